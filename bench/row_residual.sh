#!/usr/bin/env bash
# Subtree labels, residual model and score of lammpsh_s1 (5,792 trees, 0.93 million vertices) on
# one thread, against reading its archive and against a budget.
set -euo pipefail
. "$source/bench/lib.sh"

budget_s=0.25
if ! trace=$(data lammpsh_s1); then
    echo
    echo 'lammpsh_s1: skipped, the data is not there.'
    exit
fi
times=$WORK/times
rm -rf "$times"
mkdir -p "$times"
for ((i = 0; i < repetitions; i++)); do
    say "lammpsh_s1: $((i + 1)) of $repetitions"
    "$tools/otf2_floor" "$trace/traces.otf2" | field wall_s >>"$times/floor"
    rm -rf "$WORK/residual.snag"
    "$snag" analyze -v --threads 1 --foi compute "$trace" -o "$WORK/residual.snag" \
        >"$times/out" 2>"$times/log" || [ $? -eq 3 ]
    grep 'compute: forest' "$times/log" |
        awk '{ for (i = 1; i < NF; i++) if ($i == "features" || $i == "detector") s += $(i + 1)
            print s / 1e3 }' >>"$times/score"
done
rm -rf "$WORK/residual.snag"
least=$(smallest "$times/score")
printf '\n%s\n\n' "$(grep '^compute: ' "$times/out")"
echo '| | wall, least | median | wall / floor | budget | met |'
echo '|---|---|---|---|---|---|'
printf '| floor: libotf2, empty callbacks | %s ms | %s ms | 1.00 | - | - |\n' \
    "$(calc "1e3 * $(smallest "$times/floor")" %.1f)" \
    "$(calc "1e3 * $(median "$times/floor")" %.1f)"
printf '| labels, residual model and score, one thread | %s ms | %s ms | %s | %s ms | %s |\n' \
    "$(calc "1e3 * $least" %.1f)" "$(calc "1e3 * $(median "$times/score")" %.1f)" \
    "$(calc "$least / $(smallest "$times/floor")")" "$(calc "1e3 * $budget_s" %.0f)" \
    "$(met "$least" "$budget_s")"
