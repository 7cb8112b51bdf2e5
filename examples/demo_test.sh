#!/bin/bash
# demo_test.sh BUILD -- the demo, one second long: it comes to its end and names what to type
# next, whatever the machine makes of the disturbance; and it says so when mpirun fails.
# BUILD is that of snag. Exit status 77: something it needs is not installed.
set -eu

build=$1
here=$(dirname "$(realpath "$0")")
command -v "${MPIEXEC:-mpirun}" >/dev/null || { echo "mpirun is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

expect() {
    grep -q "$1" "$dir/log" || { echo "no '$1' in:"; cat "$dir/log"; exit 1; }
}

DEMO_SECONDS=1 DEMO_RANKS=2 "$here/demo.sh" "$build" "$dir/out" >"$dir/log" 2>&1 || {
    cat "$dir/log"
    exit 1
}
expect '^== this machine is \(quiet\|busy\): [0-9.]* of its [0-9]* cores are idle'
expect '^step: [0-9,]* executions'
expect '^   1  #[01]-[0-9]* .* ms lost'
expect 'disturbances are among the first 2 of'
expect "snag show $dir/out/demo.snag '#[01]-"

if MPIEXEC=false DEMO_SECONDS=1 "$here/demo.sh" "$build" "$dir/out" >"$dir/log" 2>&1; then
    echo "no failure when mpirun fails"
    exit 1
fi
expect 'the program failed, with status 1'
