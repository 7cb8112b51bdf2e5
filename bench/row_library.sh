#!/usr/bin/env bash
# Events that a tool has in memory, pushed into libsnag one by one, against `snag ad` that reads the
# same from an archive; in turns.
set -euo pipefail
. "$source/bench/lib.sh"

events=${BENCH_EVENTS:-20000000}
trace=$(generated "$events")
times=$WORK/times
rm -rf "$times"
mkdir -p "$times"
for ((i = 0; i < repetitions; i++)); do
    say "library: $((i + 1)) of $repetitions"
    "$tools/push_bench" "$trace/traces.otf2" >"$times/said"
    field push_s <"$times/said" >>"$times/push"
    "$tools/measure" "$snag" ad "replay:$trace/traces.otf2" --quiet 2>"$times/log" >/dev/null
    grep '^measure:' "$times/log" | field wall_s >>"$times/ad"
done
n=$(field events <"$times/said")
ratio=$(calc "$(smallest "$times/ad") / $(smallest "$times/push")")
printf '\n| %s events | wall, least | median | million events per second | throughput / snag ad | target | met |\n' "$n"
echo '|---|---|---|---|---|---|---|'
for name in ad push; do
    what='snag ad, from an archive'
    [ $name = ad ] || what='pushed into libsnag'
    printf '| %s | %s ms | %s ms | %s | %s |\n' "$what" "$(calc "1e3 * $(smallest "$times/$name")" %.1f)" \
        "$(calc "1e3 * $(median "$times/$name")" %.1f)" "$(calc "1e-6 * $n / $(smallest "$times/$name")" %.1f)" \
        "$([ $name = ad ] && echo '1.00 | - | -' ||
            echo "$ratio | >= 0.9 | $(awk -v r="$ratio" 'BEGIN { print (r >= 0.9 ? "yes" : "no") }')")"
done
