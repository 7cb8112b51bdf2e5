#!/bin/bash
# demo.sh BUILD SNAG OUT -- from a running program to its anomalies:
#
#   run md, traced, and disturb it  ->  OUT/trace, OUT/truth.csv
#   snag analyze                    ->  OUT/demo.snag
#   snag list                       ->  OUT/candidates.jsonl
#   compare with the truth          ->  the table on the screen
#
# BUILD is where the examples were built, SNAG the program snag. In the environment:
#   DEMO_RANKS (4)  DEMO_SECONDS (8)  DEMO_PARTICLES (1000, per rank)  DEMO_SEED (1)
#   DEMO_DISTURBANCES (one per second)  DEMO_KIND (stop, load or both)
#   DEMO_TOP (candidates to look at; one per rank and disturbance)
set -eu

[ $# -eq 3 ] || { echo "usage: demo.sh BUILD SNAG OUT" >&2; exit 2; }
build=$(realpath "$1")
snag=$2
out=$3
here=$(dirname "$(realpath "$0")")
ranks=${DEMO_RANKS:-4}
seconds=${DEMO_SECONDS:-8}
particles=${DEMO_PARTICLES:-1000}
count=${DEMO_DISTURBANCES:-$seconds}
top=${DEMO_TOP:-$((ranks * count))}
warmup=1

fail() {
    echo "demo: $*" >&2
    exit 1
}

# How many cores are idle, looking for a second: others may be at work here too.
idle_cores() {
    { grep '^cpu ' /proc/stat; sleep 1; grep '^cpu ' /proc/stat; } | awk -v cores="$(nproc)" '
        { total = 0; for (i = 2; i <= 9; i++) total += $i }
        NR == 1 { total0 = total; idle0 = $5 + $6 }
        END { printf "%.1f\n", cores * ($5 + $6 - idle0) / (total - total0) }'
}

# Milliseconds a step must last so that the ranks need at most 60 % of the cores that are idle.
# A rank that waits for another spins, so it needs about twice the time it computes.
choose_pace() {
    local cores idle one
    cores=$(nproc)
    idle=$(idle_cores)
    if awk -v idle="$idle" -v ranks="$ranks" 'BEGIN { exit idle < ranks + 0.5 }'; then
        echo "$ranks ranks, $idle of $cores cores idle: they run as fast as they can" >&2
        echo 0
        return
    fi
    one=$("$here/run_mpi.sh" 1 "$build/md" --steps 100 --particles "$particles" |
        sed -n 's/.* each, \(.*\) ms of processor time.*/\1/p')
    [ -n "$one" ] || fail "md did not run"
    awk -v one="$one" -v ranks="$ranks" -v cores="$cores" -v idle="$idle" 'BEGIN {
        if (idle < 0.5) idle = 0.5
        pace = 2 * one * ranks / (0.6 * idle)
        if (pace < 2) pace = 2
        printf "%d ranks, %.1f of %d cores idle: a step computes %.2f ms and is made to last " \
            "%.1f ms, to need at most 60 %% of what is idle\n", ranks, idle, cores, one,
            pace >"/dev/stderr"
        printf "%.1f\n", pace
    }'
}

run_disturbed() {
    rm -rf "$out/trace" "$out/ranks"
    export SNAG_TRACER_DIR=$out/trace SNAG_TRACER_RANKS=$out/ranks
    TRACER=$build/libsnag-tracer.so "$here/run_mpi.sh" "$ranks" "$build/md" \
        --seconds "$((seconds + warmup + 1))" --particles "$particles" --pace "$pace" \
        --output "$out/snapshot.xyz" >"$out/md.log" 2>&1 &
    md_pid=$!
    trap 'kill "$md_pid" 2>/dev/null; exit 1' INT TERM
    "$build/disturb" --ranks "$out/ranks" --truth "$out/truth.csv" --seconds "$seconds" \
        --warmup "$warmup" --count "$count" --kind "${DEMO_KIND:-both}" \
        --nice -20 --seed "${DEMO_SEED:-1}" || { kill "$md_pid"; fail "the disturber failed"; }
    wait "$md_pid" || { cat "$out/md.log" >&2; fail "md failed"; }
    grep ' steps, ' "$out/md.log"
}

# Status 3 is "done, but the input was damaged".
run_snag() {
    local status=0
    "$snag" "$@" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || fail "snag $1 failed"
}

analyze() {
    rm -rf "$out/demo.snag"
    run_snag analyze "$out/trace" --foi step -o "$out/demo.snag"
    run_snag list "$out/demo.snag"
    run_snag list "$out/demo.snag" --json --top "$top" >"$out/candidates.jsonl"
}

mkdir -p "$out"
out=$(realpath "$out")
pace=$(choose_pace)
run_disturbed
analyze
"$build/disturb-score" "$out/truth.csv" "$out/candidates.jsonl" "$out/trace/traces.otf2"
