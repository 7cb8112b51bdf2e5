#!/usr/bin/env bash
# Programs that were not compiled for the tracer: their functions are found on the stacks at calls
# of MPI, each as often as it was called, whatever becomes of the stack in between.
#
#   stacks.sh SNAG TRACER DIRECTORY
set -eu
snag=$1 tracer=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset ${!SNAG_*}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
    echo "$*"
    cat calls said 2>/dev/null
    exit 1
}

# first NAMES... -- the first of these programs that is there
first() {
    local name
    for name; do
        command -v "$name" && return
    done
    echo "none of $* is installed"
    exit 77
}

# run PROGRAM TRACE -- as it is; the calls go to calls
run() {
    SNAG_TRACER_DIR=$2 LD_PRELOAD=$tracer "./$1" >said || fail "$1 ends with $?"
    otf2-print -Werror --silent "$2/traces.otf2" >out 2>&1 || fail "$2 cannot be read: $(cat out)"
    "$snag" info "$2" --json --all | jq -r '.regions[] | "\(.name) \(.calls)"' >calls
}

# every line of what the program says is there
compare() {
    while read -r line; do
        grep -qxF "$line" calls || fail "$1: not '$line'"
    done <said
}

command -v jq >/dev/null && command -v otf2-print >/dev/null || { echo "jq or otf2-print is missing"; exit 77; }
cc=$(first mpicc.openmpi mpicc) || { echo "$cc"; exit 77; }
cxx=$(first mpicxx.openmpi mpicxx) || { echo "$cxx"; exit 77; }
"$cc" -O2 -o activations "$source/activations.c" -lpthread
"$cxx" -O2 -o exceptions "$source/exceptions.cc"

for program in activations exceptions; do
    run $program $program.trace
    compare $program
done

# the command finds out by itself, and says so
"$snag" record -o command ./exceptions >out 2>said || fail "snag record ends with $?"
grep -q '[0-9] functions from stacks and MPI' said || fail "it does not say where functions are from"
"$snag" record --mpi -o told ./exceptions >out 2>said || fail "snag record --mpi ends with $?"
grep -q -- '--stacks would record .* snag analyze told --foi loop' said || fail "MPI alone: not what helps"
"$snag" record --functions -o unhooked ./exceptions >out 2>said || fail "snag record --functions ends with $?"
grep -q 'Without --functions they are found on its stacks' said || fail "no hooks: not what helps"
"$snag" record --mpi --json -o alone ./exceptions >out 2>said || fail "snag record --mpi ends with $?"
[ "$(jq -c '[.functions, .is_sampled]' said)" = '[0,false]' ] || fail "--mpi records more"

# estimated times say by how much they may be wrong
otf2-print activations.trace/traces.otf2 >events
grep -q '"snag.earlier" <0>; UINT64; [0-9]*), ("snag.later"' events || fail "no attributes"

# stripped: the same calls, under addresses
strip exceptions
run exceptions stripped
awk '!/^MPI_/ && /^exceptions\+0x/ { print $2 }' calls | sort -n >found
for n in 1 100 1000 1100; do
    grep -qx $n found || fail "stripped: nothing was called $n times"
done

# hooks are not mixed with stacks, and neither is there if it is not wanted
"$cc" -O2 -finstrument-functions -o hooked "$source/activations.c" -lpthread
run hooked hooked.trace
grep -qx 'thread 3' calls && grep -qx 'in_loop 1000' calls ||
    fail "hooks are not there"
otf2-print hooked.trace/traces.otf2 | grep -q 'UINT64' && fail "stacks beside hooks"
export SNAG_TRACER_STRUCTURE=mpi
run hooked mpi.trace
grep -qvE '^(MPI_|BUFFER_FLUSH )' calls && fail "not MPI alone"
SNAG_TRACER_STRUCTURE=stacks
run hooked stacks.trace
compare hooked
echo "as often as called: activations, exceptions, stripped, hooked"
