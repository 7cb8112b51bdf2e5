#!/usr/bin/env bash
# LOF with 20 neighbours on generated rows of 128 columns, against scikit-learn: as Python finds
# its BLAS, with the reference BLAS, and with trees.
set -euo pipefail
. "$source/bench/lib.sh"

sizes=(5800 20000) cols=128
[ -z "${BENCH_TINY:-}" ] || sizes=(300) cols=8
has_peer=1
peer sklearn python3-sklearn || has_peer=0
reference=$(reference_blas)

# one WHAT ROWS PEER COMMAND...: a row of the table; PEER is JSON to compare with, or nothing.
one() {
    local what=$1 rows=$2 other=$3 got s cpu ratio=- cpu_ratio=- is_met=-
    shift 3
    say "neighbours: $rows rows, $what"
    got=$("$@")
    s=$(member lof_seconds <<<"$got") cpu=$(member lof_cpu_seconds <<<"$got")
    if [ -n "$other" ]; then
        ratio=$(calc "$(member lof_seconds <<<"$other") / $s" %.1f)
        cpu_ratio=$(calc "$(member lof_cpu_seconds <<<"$other") / $cpu" %.1f)
        is_met=$(met "$(calc "10 * $s" %.6f)" "$(member lof_seconds <<<"$other")")
    fi
    printf '| %s | %s | %.3f | %.3f | %s | %s | %s | %.8g |\n' "$rows" "$what" "$s" "$cpu" "$ratio" "$cpu_ratio" \
        "$is_met" "$(member lof_sum <<<"$got")" >>"$WORK/table"
    last=$got
}

for rows in "${sizes[@]}"; do
    installed='' slow=''
    : >"$WORK/table"
    echo
    if [ $has_peer = 1 ]; then
        run=("$python" "$source/bench/neighbours_sklearn.py" "$rows" "$cols")
        one 'scikit-learn, brute force (its choice), BLAS as installed' "$rows" '' "${run[@]}"
        installed=$last
        if [ -n "$reference" ] && [ "$reference" != . ]; then
            one 'the same with the reference BLAS' "$rows" '' env LD_LIBRARY_PATH="$reference" "${run[@]}"
            slow=$last
        fi
        one 'scikit-learn, k-d tree' "$rows" '' "${run[@]}" kd_tree
    fi
    for threads in 1 "$(nproc)"; do
        one "snag, threads: $threads; against BLAS as installed" "$rows" "$installed" \
            "$tools/neighbours_bench" "$rows" "$cols" "$threads"
        [ -z "$slow" ] || one "snag, threads: $threads; against the reference BLAS" "$rows" "$slow" \
            "$tools/neighbours_bench" "$rows" "$cols" "$threads"
    done
    echo '| rows | | seconds, least | processor | scikit-learn / this | of processor | 10 is met | sum of LOF |'
    echo '|---|---|---|---|---|---|---|---|'
    cat "$WORK/table"
done
rm -f "$WORK/table"
