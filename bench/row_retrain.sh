#!/usr/bin/env bash
# A new ranking after 1, 50 and 200 labels: what the learner takes, inside one process, for rows
# of about 30 call paths of 60.
set -euo pipefail
. "$source/bench/lib.sh"

sizes=(5800 100000)
[ -z "${BENCH_TINY:-}" ] || sizes=(300)
echo
echo '| executions | threads | reasons, 1 label | 50 labels | 200 labels | ocsvm, first | after one more label | budget | reasons meets it | ocsvm, after a label |'
echo '|---|---|---|---|---|---|---|---|---|---|'
for rows in "${sizes[@]}"; do
    budget_ms=50
    [ "$rows" -le 5800 ] || budget_ms=1000
    for threads in 1 "$(nproc)"; do
        say "retrain: $rows executions, threads: $threads"
        got=$("$tools/retrain_bench" "$rows" 60 "$threads")
        ms() { calc "1e3 * $(member "$1" <<<"$got")" %.1f; }
        printf '| %s | %s | %s ms | %s ms | %s ms | %s ms | %s ms | %s ms | %s | %s |\n' "$rows" "$threads" \
            "$(ms reasons_1_s)" "$(ms reasons_50_s)" "$(ms reasons_200_s)" "$(ms ocsvm_first_s)" "$(ms ocsvm_again_s)" "$budget_ms" \
            "$(met "$(ms reasons_200_s)" "$budget_ms")" "$(met "$(ms ocsvm_again_s)" "$budget_ms")"
    done
done
