#!/usr/bin/env bash
# Programs that were not compiled for the tracer: their functions are found on the stacks at calls
# of MPI, each as often as it was called, whatever becomes of the stack in between.
#
#   stacks.sh SNAG TRACER DIRECTORY
set -eu
snag=$1 tracer=$2 source=$3
. "$(dirname "$0")/../support/own_directory.sh"

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
    "$snag" record --quiet --finish "$2"
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
"$cxx" -O2 -DOMPI_SKIP_MPICXX -o exceptions "$source/exceptions.cc"

for program in activations exceptions; do
    run $program $program.trace
    compare $program
done

# the tracer writes when a call of MPI has ended: the time until the next is in one piece, wherever in it functions begin and end
otf2-print activations.trace/traces.otf2 | awk '
    /ADDITIONAL ATTRIBUTES/ { next }
    /^BUFFER_FLUSH/ { n++; elsewhere += !(before[$2] ~ /^LEAVE .*"MPI_/) && !(before[$2] ~ /^ENTER .*"MPI_Init/) }
    { before[$2] = $0 }
    END { if (n < 10 || elsewhere) { print n + 0 " writes, " elsewhere + 0 " of them elsewhere"; exit 1 } }' >writes || fail "activations: $(cat writes)"

# what is an estimate is counted, and how far off it may be, as another reader sees it
otf2-print activations.trace/traces.otf2 | grep -o '"snag.earlier" <[0-9]*>; [A-Z0-9]*; [0-9]*), ("snag.later" <[0-9]*>; [A-Z0-9]*; [0-9]*' |
    sed -E 's/[^;]*; [A-Z0-9]*; ([0-9]+)\), [^;]*; [A-Z0-9]*; ([0-9]+)/\1 \2/' |
    awk '{ print ($1 > $2 ? $1 : $2) }' | sort -n >off
n=$(wc -l <off)
[ "$n" -gt 100 ] || fail "activations: only $n estimates"
"$snag" info activations.trace --json |
    jq -e --argjson n "$n" --argjson half "$(sed -n "$(((n + 1) / 2))p" off)" --argjson most "$(sed -n "$(((99 * n + 99) / 100))p" off)" \
        '.estimated | .n == $n and .median_ns >= $half and .median_ns <= 1.2 * $half + 1 and
            .p99_ns >= $most and .p99_ns <= 1.2 * $most + 1' >/dev/null ||
    fail "activations: not $n estimates, or others"
"$snag" analyze activations.trace --foi has_loop -o activations.snag --quiet >/dev/null ||
    fail "activations: not analysed"
[ "$(stat -c %s activations.snag/calls/estimates.rec)" -eq $((16 * n)) ] || fail "activations: not all estimates are kept"

# a return through a mark changes nothing, and can be unwound at any instruction of it
"$cc" -O2 -o returns "$source/returns.c"
./returns >out 2>unmarked || fail "returns, alone: $(cat out)"
SNAG_TRACER_DIR=returns.trace LD_PRELOAD=$tracer ./returns >out 2>traced || fail "returns: $(cat out)"
[ "$(awk '/instructions/ { print $1 }' traced)" -gt "$(awk '/instructions/ { print $1 }' unmarked)" ] ||
    fail "returns: there was no mark to return through"
# and says when it was, where the processor's clock is trusted: not half of 300 ms later
if grep -qE 'tsc|kvm-clock' /sys/devices/system/clocksource/clocksource0/current_clocksource; then
    "$snag" info returns.trace --json --all |
        jq -e '.regions[] | select(.name == "leaves_early") | .calls == 1 and .inclusive_ns < 120e6' >/dev/null ||
        fail "returns: leaves_early is left when MPI is called next"
fi

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

# where debug information says it, a function has its source; the build is named
"$cc" -O2 -g -o lines "$source/activations.c" -lpthread
run lines lines.trace
otf2-print -G lines.trace/traces.otf2 >definitions
line=$(grep -n ' in_loop(' "$source/activations.c" | head -n 1 | cut -d: -f1)
grep -q "Name: \"in_loop\".*File: \"[^\"]*/activations.c\" <[0-9]*>, Begin: $line," definitions ||
    fail "in_loop is not on line $line: $(grep in_loop definitions)"
if command -v readelf >/dev/null; then
    id=$(readelf -n lines | awk '/Build ID/ { print $3 }')
    [ -z "$id" ] || grep -q "snag.build_id $dir/lines\".*\"$id\"" definitions || fail "the build $id is not named"
fi

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
grep -qvE '^(MPI_|BUFFER_FLUSH)' calls && fail "not MPI alone"
SNAG_TRACER_STRUCTURE=stacks
run hooked stacks.trace
compare hooked
echo "as often as called: activations, exceptions, stripped, hooked"
