#!/usr/bin/env bash
# Reading a trace into finished call columns, against a program that only reads the archive.
#
# Floor and snag take turns. snag says itself, with -v, how long it took up to the columns; the
# rest of the command, with a rare function of interest, is in the time of the whole process.
set -euo pipefail
. "$source/bench/lib.sh"

events=${BENCH_EVENTS:-20000000}
stage='reading' # as in "analyze: reading took wall_s ..."

# one TRACE THREADS: a run of snag; appends to files in $times.
one() {
    local trace=$1 threads=$2 log=$times/log
    rm -rf "$WORK/ingest.snag"
    "$tools/measure" "$snag" analyze -v --threads "$threads" --foi MPI_Allreduce \
        "$trace" -o "$WORK/ingest.snag" >/dev/null 2>"$log" || [ $? -eq 3 ]
    grep "$stage" "$log" | field wall_s >>"$times/wall$threads"
    grep "$stage" "$log" | field cpu_s >>"$times/cpu$threads"
    grep "$stage" "$log" | field peak_bytes >>"$times/peak$threads"
    grep "$stage" "$log" | field calls >"$times/calls"
    grep '^measure:' "$log" | field wall_s >>"$times/whole$threads"
    grep '^measure:' "$log" | field cpu_s >>"$times/whole_cpu$threads"
    rm -rf "$WORK/ingest.snag"
}

memory() {
    local threads=$1 calls peak limit
    calls=$(cat "$times/calls")
    peak=$(sort -g "$times/peak$threads" | tail -n 1)
    limit=$(calc "40 * $calls + 64 * 1048576" %.0f)
    printf '| %s | %s MiB | %s MiB | %s | %s |\n' "$threads" \
        "$(calc "$peak / 1048576" %.1f)" "$(calc "$limit / 1048576" %.1f)" \
        "$(calc "$peak / $limit")" "$(met "$peak" "$limit")"
}

# input NAME TRACE: all that is said of one archive.
input() {
    local name=$1 trace=$2 records
    times=$WORK/times
    rm -rf "$times"
    mkdir -p "$times"
    for ((i = 0; i < repetitions; i++)); do
        say "$name: $((i + 1)) of $repetitions"
        floor_run "$trace"
        one "$trace" 1
        one "$trace" 2
    done
    printf '\n### %s: %s records, %s calls\n\n' "$name" "$records" "$(cat "$times/calls")"
    floor_head
    floor_line 'snag, one thread, to the columns' wall1 cpu1 1.5
    floor_line 'snag, two threads, to the columns' wall2 cpu2 0.9
    floor_line 'snag, one thread, whole process' whole1 whole_cpu1 -
    floor_line 'snag, two threads, whole process' whole2 whole_cpu2 -
    printf '\n| threads | peak memory to the columns | budget: 40 bytes a call + 64 MiB | ratio | met |\n'
    echo '|---|---|---|---|---|'
    memory 1
    memory 2
}

if trace=$(data lulesh-fn8); then
    input lulesh-fn8 "$trace"
else
    echo
    echo 'lulesh-fn8: skipped, the data is not there.'
fi
input "generated, 8 ranks" "$(generated "$events")"
