#!/usr/bin/env bash
# A run played again without what its anomalies lost, against reading its trace; one thread each, in
# turns. The peak is that of snag what-if as a whole, with the columns it has mapped.
set -euo pipefail
. "$source/bench/lib.sh"

# one NAME TRACE: of the function of interest that snag takes by itself.
one() {
    local name=$1 trace=$2 ratio calls peak
    times=$WORK/times
    rm -rf "$times" "$WORK/what_if.snag"
    mkdir -p "$times"
    say "$name"
    "$snag" analyze -v "$trace" -o "$WORK/what_if.snag" >/dev/null 2>"$times/log" || [ $? -eq 3 ]
    calls=$(grep 'reading took' "$times/log" | field calls)
    for ((i = 0; i < repetitions; i++)); do
        "$tools/measure" "$snag" info --threads 1 "$trace" >/dev/null 2>"$times/log" || [ $? -eq 3 ]
        grep '^measure:' "$times/log" | field cpu_s >>"$times/info"
        "$tools/measure" "$snag" what-if "$WORK/what_if.snag" --without anomalies --threads 1 \
            >/dev/null 2>"$times/log"
        grep '^measure:' "$times/log" | field cpu_s >>"$times/what_if"
        grep '^measure:' "$times/log" | field peak_bytes >>"$times/peak"
    done
    ratio=$(calc "$(smallest "$times/what_if") / $(smallest "$times/info")")
    peak=$(sort -g "$times/peak" | tail -n 1)
    printf '| %s | %s | %s ms | %s ms | %s | %s | %s | %s | %s MiB | %s | %s |\n' "$name" "$calls" \
        "$(calc "1e3 * $(smallest "$times/info")" %.1f)" \
        "$(calc "1e3 * $(smallest "$times/what_if")" %.1f)" "$ratio" \
        "$(calc "$(median "$times/what_if") / $(median "$times/info")")" 1.0 "$(met "$ratio" 1.0)" \
        "$(calc "$peak / 1048576" %.1f)" "$(calc "$peak / $calls" %.1f)" \
        "$([ "$calls" -lt 5000000 ] && echo - || met "$(calc "$peak / $calls" %.1f)" 40)"
    rm -rf "$WORK/what_if.snag"
}

echo
echo '| trace | calls | info, processor, least | what-if, processor, least | what-if / info | of medians | target | met | peak memory | bytes a call | 40 of 10 million |'
echo '|---|---|---|---|---|---|---|---|---|---|---|'
for name in lulesh-fn8 lammpsh_s1 scorep-bt-mz; do
    if trace=$(data "$name"); then
        one "$name" "$trace"
    else
        printf '| %s: skipped, the data is not there | | | | | | | | | | |\n' "$name"
    fi
done
one 'generated, 8 ranks' "$(generated "${BENCH_EVENTS:-20000000}")"
