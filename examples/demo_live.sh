#!/bin/bash
# demo_live.sh BUILD [OUT] -- watch a program while it runs:
#
#   snag watch tracer:OUT/socket    the reader, with its page
#   run md, traced and disturbed    it streams to the socket, and writes no archive
#
# Ends with the program, or with Ctrl-C. BUILD is where snag was built; OUT is examples/out unless
# said otherwise. In the environment, as for demo.sh:
#   DEMO_RANKS (one per core, 2 to 4)  DEMO_SECONDS (60)  DEMO_PARTICLES (4000)  DEMO_PACE (ms)
#   DEMO_SEED (1)  DEMO_DISTURBANCES (one per second)  DEMO_KIND (stop, load or both)
#   DEMO_PORT (of the page)
set -eu

[ $# -ge 1 ] || { echo "usage: demo_live.sh BUILD [OUT]" >&2; exit 2; }
snag=$1/snag
build=$1/examples
here=$(dirname "${BASH_SOURCE[0]}")
out=${2:-$here/out}
out=${out#"$PWD/"}
cores=$(nproc)
ranks=${DEMO_RANKS:-$((cores > 4 ? 4 : cores < 2 ? 2 : cores))}
seconds=${DEMO_SECONDS:-60}
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
rm -f "$out/ranks" "$out/truth.csv"

"$snag" watch "tracer:$socket" ${DEMO_PORT:+--port "$DEMO_PORT"} &
watch=$!
started+=("$watch")
for ((i = 0; i < 100; i++)); do
    [ ! -S "$socket" ] || break
    kill -0 "$watch" 2>/dev/null || fail "snag watch ended before the program began"
    sleep 0.1
done

echo "== md runs for $seconds s on $ranks ranks, disturbed; its log is $out/md.log"
SNAG_TRACER_LIVE=$socket SNAG_TRACER_ARCHIVE=0 SNAG_TRACER_RANKS=$out/ranks \
    TRACER=$build/libsnag-tracer.so timeout -k 5 $((2 * seconds + 30)) \
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
echo "== md is done; what was done to it: $out/truth.csv. The page stays until Ctrl-C"
wait "$watch"
