#!/usr/bin/env bash
# t-SNE of generated rows of 128 columns, 1,000 iterations, perplexity 30, against scikit-learn:
# time, and the divergence reached, computed exactly for both.
set -euo pipefail
. "$source/bench/lib.sh"

rows=5800 cols=128 iterations=1000
[ -z "${BENCH_TINY:-}" ] || rows=200 cols=8 iterations=250
"$tools/tsne_bench" make "$rows" "$cols" "$WORK/tsne.rows"
other=
if peer sklearn python3-sklearn; then
    say 'tsne: scikit-learn'
    other=$("$python" "$source/bench/tsne_sklearn.py" "$cols" "$WORK/tsne.rows" "$iterations")
fi
echo
echo "| $rows rows, $iterations iterations | seconds | processor | scikit-learn / this | budget | met | KL |"
echo '|---|---|---|---|---|---|---|'
[ -z "$other" ] || printf '| scikit-learn | %s | %s | 1.0 | - | - | %s |\n' "$(field seconds <<<"$other")" \
    "$(field cpu_seconds <<<"$other")" "$(field kl <<<"$other")"
for threads in 1 "$(nproc)"; do
    say "tsne: threads: $threads"
    own=$("$tools/tsne_bench" run "$cols" "$WORK/tsne.rows" "$iterations" "$threads")
    s=$(field seconds <<<"$own") ratio=- is_met=-
    if [ -n "$other" ]; then
        ratio=$(calc "$(field seconds <<<"$other") / $s" %.1f)
        is_met=$(met "$(calc "8 * $s" %.4f)" "$(field seconds <<<"$other")")
    fi
    printf '| snag, threads: %s | %s | %s | %s | 8 | %s | %s |\n' "$threads" "$s" "$(field cpu_seconds <<<"$own")" \
        "$ratio" "$is_met" "$(field kl <<<"$own")"
done
rm -f "$WORK/tsne.rows"
