#!/usr/bin/env bash
# snag record --sample: functions that call no MPI have their share of the time, which the program
# measures itself; in a program without MPI, with it, and in a thread.
#
#   sampled.sh SNAG DIRECTORY
set -eu
snag=$1 source=$2
. "$(dirname "$0")/../support/own_directory.sh"

fail() {
    echo "$*"
    cat said err found 2>/dev/null || true
    exit 1
}

for tool in cc jq; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done

# check TRACE -- each function has the share that the program says, within 6 %, and the callee that
# of its caller. Where one function follows another between two samples, 5 ms of 40 in between,
# nobody knows which of them waited for the processor: twice that much of its waits may be taken
# for the other's.
check() {
    [ ! "$(command -v otf2-print)" ] || otf2-print -Werror --silent "$1/traces.otf2" >out 2>&1 ||
        fail "$1 cannot be read: $(cat out)"
    "$snag" info "$1" --json --all >info || fail "$1 is not whole"
    jq -r '[.regions[] | select(.name | test("^(short_one|long_one|caller)$"))] | (map(.inclusive_ns) | add) as $all |
        .[] | "\(.name) \(1000 * .inclusive_ns / $all | round)"' info >found
    off=$(awk '$1 == "waited" { print 60 + int($2 / 4) }' said)
    while read -r name share; do
        [ "$name" != waited ] || continue
        is=$(awk -v name="$name" '$1 == name { print $2 }' found)
        [ -n "$is" ] && [ "$is" -ge $((share - off)) ] && [ "$is" -le $((share + off)) ] ||
            fail "$1: $name takes $share per mille, not ${is:-nothing}"
    done <said
    jq -e --argjson off "$off" '[.regions[] | select(.name | test("^(caller|compute)$")).inclusive_ns] | length == 2 and
        (1 + ($off + 40) / 1000) as $most | .[0] <= $most * .[1] and .[1] <= $most * .[0]' \
        info >/dev/null || fail "$1: compute is not what caller does"
}

cc -O2 -o alone "$source/sampled.c" -lpthread
"$snag" record --sample 200Hz -o alone.trace -- ./alone 2 >said 2>err || fail "snag record ends with $?"
grep -q '200Hz of processor time' err || fail "it does not say what functions are from"
check alone.trace
"$snag" record --sample 200Hz -o thread.trace -- ./alone 2 thread >said 2>err || fail "snag record ends with $?"
check thread.trace
status=0
"$snag" record --sample 200Hz -o killed.trace -- ./alone 0.5 killed >said 2>err || status=$?
[ $status -eq 137 ] || fail "a program that kills itself: status $status"
"$snag" info --json killed.trace | jq -e 'any(.regions[]; .name == "work")' >/dev/null ||
    fail "what was sampled of a program until it was killed is not there"
status=0
"$snag" record --sample 200Hz -o short.trace -- true 2>err || status=$?
[ $status -eq 1 ] && grep -q 'computed for too short a time' err || fail "nothing to be sampled: status $status"
status=0
"$snag" record --sample often -- ./alone 1 >said 2>err || status=$?
[ $status -eq 2 ] || fail "a rate that is none: status $status"

# Functions that are inlined: which call of them a sample is in is told by where it is, so there are as many as were
# made; and the last one has not ended when the program did.
cc -O1 -g -fopenmp -o steps "$source/../truth/programs/threaded.c" "$source/../truth/truth.c" -lm
TRUTH_DIR=$PWD TRUTH_STEPS=200 TRUTH_WORK=spin TRUTH_LOOPS_PER_MS=600000 OMP_NUM_THREADS=1 \
    "$snag" record --sample 200Hz -o steps.trace -- ./steps >said 2>err || fail "snag record ends with $?"
"$snag" info --json steps.trace >info
jq -e '[.regions[] | select(.name == "step").calls] == [200]' info >/dev/null ||
    fail "step was called 200 times: $(jq -c '[.regions[] | select(.name == "step").calls]' info)"
jq -e '[.regions[] | select(.name == "truth_work").calls][0] >= 5' info >/dev/null || fail "samples fell into nothing"

# Where nothing tells whether the call beneath has ended, a sample is no new call of the inlined function: however long
# it is, in whatever it computes, and in several threads at once.
TRUTH_DIR=$PWD TRUTH_STEPS=20 TRUTH_WORK=spin TRUTH_LOOPS_PER_MS=8000000 OMP_NUM_THREADS=1 \
    "$snag" record --sample 200Hz -o long.trace -- ./steps >said 2>err || fail "snag record ends with $?"
"$snag" info --json long.trace >info
jq -e '[.regions[] | select(.name == "step" or .name == "tables").calls] == [20, 20] and
    .estimated.joined_most > 2 * .estimated.joined and .estimated.joined > 0' info >/dev/null ||
    fail "step was called 20 times: $(jq -c '.estimated, [.regions[] | select(.name == "step" or .name == "tables").calls]' info)"
for built in "-O1 0" "-O2 2"; do
    read -r level threads <<<"$built"
    cc $level -g -fopenmp -o inlined "$source/sampled_inlined.c" -lpthread
    rm -rf inlined.trace
    "$snag" record --sample 200Hz -o inlined.trace -- ./inlined 30 $threads >said 2>err || fail "snag record ends with $?"
    "$snag" info --json --all inlined.trace | jq -r '.regions[] | "\(.name) \(.calls)"' >found
    while read -r name calls; do
        is=$(awk -v name="$name" '$1 == name { print $2 }' found) fewest=$calls
        # nothing but samples is in it: none is where the machine stood still for its 30 ms
        [ "$name" != inner ] || fewest=$((calls / 2))
        [ "${is:-0}" -ge "$fewest" ] && [ "${is:-0}" -le "$calls" ] ||
            fail "$level, $threads threads: ${is:-no} calls of $name, not $calls"
    done <said
done

for mpi in openmpi mpich; do
    command -v mpicc.$mpi >/dev/null && [ -e "$(dirname "$snag")/tracer/libsnag-tracer.so" ] || continue
    mpicc.$mpi -O2 -w -DWITH_MPI -o of.$mpi "$source/sampled.c" -lpthread
    "$snag" record --sample 200Hz -o $mpi.trace -- ./of.$mpi 2 >said 2>err || fail "snag record ends with $?"
    check $mpi.trace
done
echo "as the program says: alone, in a thread, in steps, with MPI"
