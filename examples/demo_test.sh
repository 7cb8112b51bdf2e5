#!/bin/bash
# demo_test.sh BUILD -- the demo, one second long: it comes to its end and names what to type
# next, whatever the machine makes of the disturbance; what README.md shows of it is of the same shape; and it says so
# when mpirun fails.
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

# As README.md shows it; of `snag show`, an execution that is as the one there, whatever this machine does.
check_shape() { # check_shape README
    python3 "$here/shown.py" check "$1" demo "$dir/log" && python3 "$here/shown.py" check "$1" show "$dir/show"
}
"$build/snag" analyze 'synth:400*step(pair_forces@1.58ms exchange_halo(3*exchange_dimension(2*pack_ghosts@2us >1 <1)));ranks=2;jitter=0.02;slow=pair_forces/150/15/1' \
    --foi step -o "$dir/synth.snag" --quiet >"$dir/analyze.log"
{ echo "\$ snag show '#1-149'" && "$build/snag" show "$dir/synth.snag" '#1-149'; } >"$dir/show"
if command -v python3 >/dev/null; then
    check_shape "$here/../README.md"
    for change in 's/ incidents overlap / incidents are at the time of /' 's/calls  call path$/calls  path/' 's/^    where the exec/    here the exec/'; do
        sed "$change" "$here/../README.md" >"$dir/README.md"
        ! cmp -s "$dir/README.md" "$here/../README.md" && ! check_shape "$dir/README.md" >/dev/null || {
            echo "not noticed: $change"
            exit 1
        }
    done
else
    echo "not compared with README.md: no python3"
fi

if MPIEXEC=false DEMO_SECONDS=1 "$here/demo.sh" "$build" "$dir/out" >"$dir/log" 2>&1; then
    echo "no failure when mpirun fails"
    exit 1
fi
expect 'the program failed, with status 1'
