#!/bin/bash
# demo_live.sh BUILD [OUT] -- watch a program while it runs:
#
#   snag watch tracer:SOCKET --foi step    the reader, with its page; OUT/live.store
#   run md, traced and disturbed           it streams to the socket, and writes no archive
#   the strangest executions of step       the screen
#
# The page stays when the program is over, until Ctrl-C; DEMO_SERVE=0 ends with the program. BUILD is where snag was built; OUT is examples/out unless
# said otherwise. In the environment, as for demo.sh:
#   DEMO_RANKS (one per core, 2 to 4)  DEMO_SECONDS (60)  DEMO_PARTICLES (4000)  DEMO_PACE (ms)
#   DEMO_SEED (1)  DEMO_DISTURBANCES (one per second)  DEMO_KIND (stop, load or both)
#   DEMO_PORT (of the page)  DEMO_SHOW (5)
set -eu

[ $# -ge 1 ] || { echo "usage: demo_live.sh BUILD [OUT]" >&2; exit 2; }
snag=$1/snag
build=$1/examples
tracer=$1/tracer/libsnag-tracer.so
here=$(dirname "${BASH_SOURCE[0]}")
out=${2:-$here/out}
out=${out#"$PWD/"}
cores=$(nproc)
ranks=${DEMO_RANKS:-$((cores > 4 ? 4 : cores < 2 ? 2 : cores))}
seconds=${DEMO_SECONDS:-60}
once=
[ "${DEMO_SERVE:-1}" != 0 ] || once=--once
started=()

fail() {
    echo "demo: $*" >&2
    exit 1
}

# Whatever happens, nothing we started goes on.
clean_up() {
    [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
    wait
}

[ -x "$snag" ] || fail "no snag in '$1'; ./setup.sh build makes it"
[ -x "$build/md" ] || fail "the example programs are not built: they need MPI and libotf2"
mkdir -p "$out" && [ -w "$out" ] || fail "cannot write to '$out'; demo_live.sh BUILD OUT takes another"
# the path of a socket must be short
socket=$(mktemp -d)/socket
trap 'clean_up; rm -rf "$(dirname "$socket")"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
rm -rf "$out/ranks" "$out/truth.csv" "$out/live.store" || fail "cannot clean '$out'"

"$snag" watch "tracer:$socket" --foi step --store "$out/live.store" $once --quiet \
    ${DEMO_PORT:+--port "$DEMO_PORT"} >"$out/watch.log" &
watch=$!
started+=("$watch")
for ((i = 0; i < 100; i++)); do
    [ ! -S "$socket" ] || break
    kill -0 "$watch" 2>/dev/null || fail "snag watch ended before the program began"
    sleep 0.1
done

echo "== look at it while it runs: $(head -n 1 "$out/watch.log")"
echo "== md runs for $seconds s on $ranks ranks, disturbed; its log is $out/md.log"
SNAG_TRACER_LIVE=$socket SNAG_TRACER_ARCHIVE=0 SNAG_TRACER_RANKS=$out/ranks \
    TRACER=$tracer timeout -k 5 $((2 * seconds + 30)) \
    "$here/run_mpi.sh" "$ranks" "$build/md" --seconds "$seconds" \
    --particles "${DEMO_PARTICLES:-4000}" --output "$out/snapshot.xyz" \
    --pace "${DEMO_PACE:-$((ranks > cores ? 10 * ranks / cores : 0))}" \
    </dev/null >"$out/md.log" 2>&1 &
md=$!
started+=("$md")
"$build/disturb" --ranks "$out/ranks" --truth "$out/truth.csv" --seconds $((seconds - 2)) \
    --warmup 2 --count "${DEMO_DISTURBANCES:-$seconds}" --kind "${DEMO_KIND:-both}" --nice -20 \
    --seed "${DEMO_SEED:-1}" </dev/null >"$out/disturb.log" 2>&1 &
started+=("$!")
wait "$md" || { cat "$out/md.log" >&2; fail "the program failed"; }

# What it has not read yet when the program is over is a moment's work.
for ((i = 0; i < 300; i++)); do
    ! grep -q '^snag serve' "$out/watch.log" || break
    kill -0 "$watch" 2>/dev/null || break
    sleep 0.1
done
echo "== md is done, and was disturbed $(($(grep -vc '^#' "$out/truth.csv") - 1)) times ($out/truth.csv)"
sed '1,2d; /^snag serve/d; s/^tracer:[^ ]*: //' "$out/watch.log"
echo
"$snag" query "$out/live.store" "
    SELECT printf('#%d-%d', rid, execution) AS step, printf('%.1f s', entry / 1e6) AS began,
           record ->> '$.execution.why' AS why
    FROM anomalies WHERE execution IS NOT NULL
    ORDER BY outlier_severity DESC LIMIT ${DEMO_SHOW:-5}"
echo
if [ -n "$once" ]; then
    echo "== the same in a browser: $snag serve $out/live.store"
else
    echo "== the page stays until Ctrl-C; after that: $snag serve $out/live.store"
fi
wait "$watch"
