#!/usr/bin/env bash
# With nothing but what is installed, snag record and snag analyze find what a program of MPI did.
#
#   installed.sh CMAKE BUILD_DIRECTORY MD
set -eu
cmake=$1 build=$2 md=$3
mpirun=${MPIEXEC:-mpirun}
command -v "$mpirun" >/dev/null || { echo "mpirun is not installed"; exit 77; }
build=$(realpath "$build") md=$(realpath "$md")
. "$(dirname "$0")/../support/own_directory.sh"
unset LD_LIBRARY_PATH
"$cmake" --install "$build" --prefix "$dir/prefix" >/dev/null
cp "$md" md

fail() {
    echo "$*"
    cat said
    exit 1
}

[ -e prefix/lib*/libsnag-tracer.so ] || [ -e prefix/lib/*/libsnag-tracer.so ] ||
    fail "the tracer is not installed"
prefix/bin/snag record -o trace -- "$mpirun" -n 2 ./md --steps 60 --particles 500 >out 2>said ||
    fail "snag record ends with $?"
grep -q "recorded in 'trace': .* of 2 ranks, .* functions and MPI" said || fail "what it says of the trace is wrong"
prefix/bin/snag record --tracer serial -o apart -- "$mpirun" -n 2 ./md --steps 20 --particles 500 >out 2>said ||
    fail "snag record --tracer serial ends with $?"
grep -q 'is of MPI, whose calls are not recorded' said || fail "nothing is said of MPI"
prefix/bin/snag analyze trace --foi step -o run.snag | tee said
grep -q '^step: 120 executions' said || fail "not 120 executions"
