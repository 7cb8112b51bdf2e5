#!/usr/bin/env bash
# A server that was asked for everything, again and again, has neither more memory nor, as the
# leak checker sees it at the end, any that it lost. A few seconds; by hand, for longer:
#
#   REQUESTS=100000 tests/web/soak.sh build/asan/snag build/asan/tests/web_validate \
#       build/asan/tests/web_nonsense "" build/asan/tests/web_soak
#
#   soak.sh SNAG VALIDATE NONSENSE SAMPLE_STORE SOAK
. "$(dirname "$0")/server.sh"
n=${REQUESTS:-2000}
start
"$5" "$port" "$n" 300 "$server" "${SEED:-1}" >"$work/soaked" || failed=1
cat "$work/soaked"
for status in 200 202 304 400 404 405; do
    grep -q " status_$status=" "$work/soaked" || { echo "no answer had status $status"; failed=1; }
done
get /healthz
check "healthz" "$(cat "$body")" ok

# What is kept for answers, and labels and rankings that are only added, have grown by a third.
third=$(sed -n 's/.*resident_kib_third=\([0-9]*\).*/\1/p' "$work/soaked")
end=$(sed -n 's/.*resident_kib_end=\([0-9]*\).*/\1/p' "$work/soaked")
if [ "$n" -ge 50000 ] && [ "$end" -gt $((third + third / 8 + 4096)) ]; then
    echo "memory went from $third KiB after a third of the requests to $end KiB"
    failed=1
fi
stop
exit $failed
