#!/usr/bin/env bash
# Opening a run: snag list on a run of many calls, against snag list on a run of a few. It must
# not depend on the length of the trace, so both should take the same.
set -euo pipefail
. "$source/bench/lib.sh"

# run EVENTS: makes the run, once.
run() {
    local trace=$WORK/generated-$1
    [ -r "$trace/traces.otf2" ] || "$tools/generate" "$1" "$trace" >&2
    [ -d "$trace.snag" ] ||
        "$snag" analyze --foi MPI_Allreduce "$trace" -o "$trace.snag" >/dev/null || [ $? -eq 3 ]
}

small=${BENCH_SMALL_EVENTS:-200000} large=${BENCH_EVENTS:-20000000}
times=$WORK/times
rm -rf "$times"
mkdir -p "$times"
for n in $small $large; do run "$n"; done
for ((i = 0; i < repetitions; i++)); do
    for n in $small $large; do
        "$tools/measure" "$snag" list --top 10 "$WORK/generated-$n.snag" 2>&1 >/dev/null |
            field wall_s >>"$times/$n"
    done
done
rm -rf "$WORK/generated-$small.snag" "$WORK/generated-$large.snag"
printf '\n| run of | snag list --top 10, least | median | ratio |\n|---|---|---|---|\n'
for n in $small $large; do
    printf '| %s events | %s ms | %s ms | %s |\n' "$n" \
        "$(calc "1e3 * $(smallest "$times/$n")")" "$(calc "1e3 * $(median "$times/$n")")" \
        "$(calc "$(smallest "$times/$n") / $(smallest "$times/$small")")"
done
