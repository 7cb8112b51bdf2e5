#!/usr/bin/env bash
# The whole analysis of a function of interest that holds nearly all calls, from the archive to
# the finished run, against a program that only reads the archive.
#
# Floor and snag take turns. Stages are what snag says of them with -v.
set -euo pipefail
. "$source/bench/lib.sh"

events=${BENCH_EVENTS:-20000000}

# one TRACE FUNCTION THREADS: a run of snag; appends to files in $times.
one() {
    local trace=$1 foi=$2 threads=$3 log=$times/log
    rm -rf "$WORK/whole.snag"
    "$tools/measure" "$snag" analyze -v --threads "$threads" --foi "$foi" \
        "$trace" -o "$WORK/whole.snag" >/dev/null 2>"$log" || [ $? -eq 3 ]
    grep '^measure:' "$log" | field wall_s >>"$times/wall$threads"
    grep '^measure:' "$log" | field cpu_s >>"$times/cpu$threads"
    grep '^measure:' "$log" | field peak_bytes >>"$times/peak$threads"
    grep 'reading took' "$log" | field calls >"$times/calls"
    grep 'reading took' "$log" | awk '{ sub(/.*wall_s /, ""); print 1e3 * $1 }' >>"$times/reading$threads"
    grep ': forest' "$log" | sed 's/.*: forest/forest/' >"$times/stages"
    for stage in forest features storing; do
        field "$stage" <"$times/stages" >>"$times/$stage$threads"
    done
    rm -rf "$WORK/whole.snag"
}

stages() {
    local threads=$1 calls peak
    calls=$(cat "$times/calls")
    peak=$(sort -g "$times/peak$threads" | tail -n 1)
    printf '| %s | %s ms | %s ms | %s ms | %s ms | %s MiB | %s |\n' "$threads" \
        "$(calc "$(smallest "$times/reading$threads")" %.1f)" \
        "$(smallest "$times/forest$threads")" "$(smallest "$times/features$threads")" \
        "$(smallest "$times/storing$threads")" \
        "$(calc "$peak / 1048576" %.1f)" "$(calc "$peak / $calls" %.1f)"
}

# input NAME TRACE FUNCTION: all that is said of one archive.
input() {
    local name=$1 trace=$2 foi=$3 records
    times=$WORK/times
    rm -rf "$times"
    mkdir -p "$times"
    for ((i = 0; i < repetitions; i++)); do
        say "$name: $((i + 1)) of $repetitions"
        floor_run "$trace"
        one "$trace" "$foi" 1
        one "$trace" "$foi" 2
    done
    printf '\n### %s, %s: %s records, %s calls\n\n' "$name" "$foi" "$records" \
        "$(cat "$times/calls")"
    floor_head
    floor_line 'snag, one thread, all of it' wall1 cpu1 2.0
    floor_line 'snag, two threads, all of it' wall2 cpu2 1.0
    printf '\n| threads | reading | forest | labels and model | storing | peak memory | bytes a call |\n'
    echo '|---|---|---|---|---|---|---|'
    stages 1
    stages 2
}

if trace=$(data lulesh-fn8); then
    input lulesh-fn8 "$trace" LagrangeLeapFrog
else
    echo
    echo 'lulesh-fn8: skipped, the data is not there.'
fi
input "generated, 8 ranks" "$(generated "$events")" 'Simulation::step'
