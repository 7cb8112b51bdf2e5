#!/usr/bin/env bash
# snag report: how long it takes and how large the file is, of a run as people have them and of one
# with a million executions. It compares ranks, so it cannot be faster than snag ranks.
set -euo pipefail
. "$source/bench/lib.sh"

times=$WORK/times
executions=${BENCH_EXECUTIONS:-1000000}
[ -z "${BENCH_TINY:-}" ] || executions=4000

# row WHAT RUN LIMIT_MS
row() {
    local least bytes limit=$3
    rm -rf "$times"
    mkdir -p "$times"
    for ((i = 0; i < repetitions; i++)); do
        "$tools/measure" "$snag" report "$2" -o "$WORK/report.html" 2>&1 >/dev/null |
            field wall_s >>"$times/report"
        "$tools/measure" "$snag" ranks "$2" 2>&1 >/dev/null | field wall_s >>"$times/ranks"
    done
    least=$(calc "1e3 * $(smallest "$times/report")" %.0f)
    bytes=$(stat -c %s "$WORK/report.html")
    printf '| %s | %s ms | %s ms | %s | %s kB | %s | %s |\n' "$1" "$least" \
        "$(calc "1e3 * $(median "$times/report")" %.0f)" \
        "$(calc "$(smallest "$times/report") / $(smallest "$times/ranks")")" \
        "$(calc "$bytes / 1e3" %.0f)" "${limit:+$(met "$least" "$limit")}" "$(met "$bytes" 2000000)"
}

printf '\n| run | snag report, least | median | of snag ranks | file | within 1 s | within 2 MB |\n'
printf '|---|---|---|---|---|---|---|\n'
if trace=$(data lammpsh_s1); then
    "$snag" analyze "$trace" -o "$WORK/report.snag" --force --quiet >/dev/null || [ $? -eq 3 ]
    row '`lammpsh_s1`, 5,792 executions' "$WORK/report.snag" 1000
fi
"$snag" analyze --foi step -o "$WORK/report.snag" --force --quiet \
    "synth:$((executions / 4))*step(compute@50us(a b) >1 <1);ranks=4;jitter=0.1;slow=compute/67/9/2" >/dev/null
row "$executions executions" "$WORK/report.snag" ''
rm -rf "$WORK/report.snag" "$WORK/report.html"
