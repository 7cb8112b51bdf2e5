#!/usr/bin/env bash
# With nothing but what is installed, snag record and snag analyze find what a program of MPI did.
#
#   installed.sh CMAKE BUILD_DIRECTORY MD
set -eu
cmake=$1 build=$2 md=$3
mpirun=${MPIEXEC:-mpirun}
command -v "$mpirun" >/dev/null || { echo "mpirun is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cmake" --install "$build" --prefix "$dir/prefix" >/dev/null
cp "$md" "$dir/md"
cd "$dir"
unset ${!SNAG_*} LD_LIBRARY_PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1

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
