#!/usr/bin/env bash
# SST streams: what is read from one is what is read from a file; what dies, on either side, is
# said and waited for no longer than was asked.
#
#   sst.sh SNAG TOOLS
set -eu
SNAG=$1 TOOLS=$2
. "$(dirname "$0")/common.sh"

program='synth:200*step(compute@1ms(a 3*b@20us) >1 <1 |);slow=compute/70/10'
write() { timeout 60 "$TOOLS/tau_write" "$program;ranks=$1" "$work" engine="${2:-SST}" "${@:3}" 2>/dev/null; }
stream=$work/tau-metrics-app-0.bp

# Verdicts, from a stream and from a file.
mkdir "$work/file"
"$TOOLS/tau_write" "$program;ranks=1" "$work/file" engine=BP4
"$TOOLS/stream_verdicts" "$work/file/tau-metrics-app-0.bp" >"$work/want" 2>/dev/null
write 1 SST stop=3 how=empty &
"$TOOLS/stream_verdicts" "$stream" connect=20000 silence=20000 >"$work/got" 2>"$work/err" ||
    { cat "$work/err"; failed=1; }
wait || { echo "the writer failed"; failed=1; }
cmp "$work/want" "$work/got" || failed=1
check "strange calls" $(($(wc -l <"$work/got") > 0)) 1

# Several ranks at once.
write 3 &
check "three ranks" "$(status "$TOOLS/read_stream" "tau:$work" connect=20000 silence=20000 counters=1)" 0
wait || failed=1
grep -q '3 locations: 5400 enters, 5400 leaves, 1200 messages, 1200 counters' "$work/out" ||
    { cat "$work/out"; failed=1; }
rm -rf "$work"/tau-metrics-*

# The writer dies: what came is judged, that it broke off is said.
write 1 SST pause=300 stop=10 how=exit || true & # what the reader has not read by then is gone
check "a writer that dies" \
    "$(status "$SNAG" ad "$stream" --connect-timeout 20 --silence-timeout 10 --json --quiet)" 3
wait
check "what died" "$(jq -c '.quality | .broken_off + .reader_crash + .reader_hang' "$work/out")" 1
check "calls before it died" "$(jq '.calls > 20' "$work/out")" true
rm -rf "$work"/tau-metrics-*

# A step that never comes.
"$TOOLS/tau_write" "$program;ranks=1" "$work" engine=SST stop=10 how=hang 2>/dev/null &
writer=$!
before=$(date +%s)
check "a step that never comes" \
    "$(status "$SNAG" ad "$stream" --connect-timeout 20 --silence-timeout 2 --json --quiet)" 1
check "waited longer than asked" $(($(date +%s) - before > 30)) 0
[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q '^snag: .* for 2 s' "$work/err" ||
    { cat "$work/err"; failed=1; }
kill $writer # its rank goes with it
wait || true
rm -rf "$work"/tau-metrics-*

# The reader dies and another one comes: it sees the rest, but not what was named before.
write 1 SST pause=300 &
"$TOOLS/read_stream" "$stream" connect=20000 show=steps >"$work/first" 2>&1 &
reader=$!
for ((i = 0; i < 300; i++)); do
    grep -q 'step 3' "$work/first" && break
    sleep 0.1
done
kill -KILL $reader
wait $reader 2>/dev/null || true
check "a reader that comes late" "$(status "$TOOLS/read_stream" "$stream" connect=5000 silence=20000)" 3
grep -q '^missing_definitions 1' "$work/out" && ! grep -q ' 0 enters' "$work/out" ||
    { cat "$work/out"; failed=1; }
wait || true
exit $failed
