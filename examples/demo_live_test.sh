#!/bin/bash
# demo_live_test.sh BUILD -- the live demo, four seconds long: it comes to its end, says what to
# type next, and that shows the executions of step; and it says so when mpirun fails. BUILD is
# that of snag. Exit status 77: something it needs is not installed.
set -eu

build=$1
here=$(dirname "$(realpath "$0")")
command -v "${MPIEXEC:-mpirun}" >/dev/null || { echo "mpirun is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export DEMO_SERVE=0

expect() {
    grep -q "$1" "$dir/log" || { echo "no '$1' in:"; cat "$dir/log"; exit 1; }
}

DEMO_SECONDS=4 DEMO_RANKS=2 "$here/demo_live.sh" "$build" "$dir/out" >"$dir/log" 2>&1 || {
    cat "$dir/log"
    exit 1
}
expect 'look at it while it runs: http://127.0.0.1:[0-9]*/$'
expect '^[0-9,]* calls, [0-9,]* strange$'
expect '^step: [0-9,]* executions with [0-9,]* calls'
expect "snag serve $dir/out/live.store$"
n=$("$build/snag" query "$dir/out/live.store" --format csv \
    "SELECT calls FROM func_stats WHERE func = 'step'" | tail -n 1)
grep -q "^step: $n executions" <(sed 's/,//g' "$dir/log") ||
    { echo "$n calls of step, but:"; cat "$dir/log"; exit 1; }

if MPIEXEC=false DEMO_SECONDS=4 "$here/demo_live.sh" "$build" "$dir/out" >"$dir/log" 2>&1; then
    echo "no failure when mpirun fails"
    exit 1
fi
expect 'the program failed'
