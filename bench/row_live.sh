#!/usr/bin/env bash
# Judging a replayed archive at full speed, one thread, against a program that only reads it, also
# with a store of provenance, whose thread counts too; and whether memory depends on how much there
# is to read. Floor and snag take turns; all figures are of whole processes.
set -euo pipefail
. "$source/bench/lib.sh"

events=${BENCH_EVENTS:-20000000}

# one NAME TRACE ARGUMENTS...: a run of snag ad; appends to files in $times.
one() {
    local name=$1 trace=$2
    shift 2
    "$tools/measure" "$snag" ad "$trace" --json "$@" >"$times/said" 2>"$times/log" || [ $? -eq 3 ]
    grep '^measure:' "$times/log" | field wall_s >>"$times/$name"
    grep '^measure:' "$times/log" | field cpu_s >>"$times/$name.cpu"
    grep '^measure:' "$times/log" | field peak_bytes >>"$times/$name.peak"
}

# line WHAT NAME TARGET: one row.
line() {
    local what=$1 name=$2 limit=$3 ratio
    ratio=$(calc "$(smallest "$times/$name.cpu") / $(smallest "$times/floor.cpu")")
    printf '| %s | %s ms | %s ms | %s ms | %s | %s | %s | %s MiB |\n' "$what" \
        "$(calc "1e3 * $(smallest "$times/$name")" %.1f)" \
        "$(calc "1e3 * $(median "$times/$name")" %.1f)" \
        "$(calc "1e3 * $(smallest "$times/$name.cpu")" %.1f)" "$ratio" "$limit" \
        "$([ "$limit" = - ] && echo - || met "$ratio" "$limit")" \
        "$(calc "$(sort -g "$times/$name.peak" | tail -n 1) / 1048576" %.1f)"
}

# input NAME TRACE ARGUMENTS...: all that is said of one archive; the arguments are for the run
# with a store.
input() {
    local name=$1 trace=$2
    shift 2
    times=$WORK/times
    rm -rf "$times"
    mkdir -p "$times"
    for ((i = 0; i < repetitions; i++)); do
        say "$name: $((i + 1)) of $repetitions"
        "$tools/otf2_floor" "$trace/traces.otf2" >"$times/log"
        field wall_s <"$times/log" >>"$times/floor"
        field cpu_s <"$times/log" >>"$times/floor.cpu"
        field peak_bytes <"$times/log" >>"$times/floor.peak"
        one path "$trace" --model-key path
        rm -rf "$times/kept"
        one store "$trace" --store "$times/kept" "$@"
        member stored_anomalies <"$times/said" >"$times/stored"
        one region "$trace"
    done
    printf '\n### %s: %s events, %s calls, %s strange\n\n' "$name" "$(member events <"$times/said")" \
        "$(member calls <"$times/said")" "$(member anomalies <"$times/said")"
    echo '| | wall, least | median | processor, least | / floor | target | met | peak memory |'
    echo '|---|---|---|---|---|---|---|---|'
    line 'floor: libotf2, empty callbacks' floor -
    line 'snag ad, a model per region' region 3
    line 'snag ad, a model per call path' path 3
    line "snag ad --store, $(cat "$times/stored") records" store 3
}

# With fewer sigmas than anybody would take, about one call in two thousand is strange.
echo '{"algorithm": "sstd", "sstd_sigma": 2.6}' >"$WORK/sigmas.json"

# loop TRACE FUNCTION: executions of the loop, against those of the function that it calls.
loop() {
    times=$WORK/times
    rm -rf "$times"
    mkdir -p "$times"
    for ((i = 0; i < repetitions; i++)); do
        one function "$1" --foi "$2"
        one loop "$1" --foi loop
    done
    printf '\nWith --foi loop, learning included: %s times the processor time with --foi %s.\n' \
        "$(calc "$(smallest "$times/loop.cpu") / $(smallest "$times/function.cpu")")" "$2"
}

if trace=$(data lulesh-fn8); then
    input lulesh-fn8 "$trace"
    loop "$trace" LagrangeLeapFrog
else
    echo
    echo 'lulesh-fn8: skipped, the data is not there.'
fi
small=$(generated $((events / 10)))
large=$(generated "$events")
input "generated, 8 ranks" "$large" --algo-file "$WORK/sigmas.json"
one small "$small"
printf '\nPeak memory at a tenth of the events: %s MiB.\n' \
    "$(calc "$(cat "$times/small.peak") / 1048576" %.1f)"
