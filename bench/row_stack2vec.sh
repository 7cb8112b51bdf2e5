#!/usr/bin/env bash
# stack2vec of lammpsh_s1 (5,792 trees, 128 dimensions, 20 epochs) against gensim's Doc2Vec
# (PV-DBOW, one worker) on the same bags of subtrees: time, and how well the vectors tell the
# labelled executions apart by their 10 nearest neighbours.
set -euo pipefail
. "$source/bench/lib.sh"

if ! trace=$(data lammpsh_s1); then
    echo
    echo 'lammpsh_s1: skipped, the data is not there.'
    exit
fi
run=$WORK/stack2vec.snag
rm -rf "$run"
"$snag" analyze --quiet --foi compute "$trace" -o "$run" >/dev/null || [ $? -eq 3 ]
say 'stack2vec: one thread'
own=$("$tools/stack2vec_bench" "$run" compute 1 "$WORK/bags" "$WORK/own.csv")
say 'stack2vec: all processors'
own_all=$("$tools/stack2vec_bench" "$run" compute "$(nproc)")
rm -rf "$run"
echo
echo '| | seconds, least | gensim / this | budget | met | PR-AUC, 10 nearest |'
echo '|---|---|---|---|---|---|'
gensim=-
if peer gensim python3-gensim >"$WORK/missing"; then
    say 'stack2vec: gensim'
    gensim=$("$python" "$source/bench/stack2vec_gensim.py" "$WORK/bags" "$WORK/gensim.csv")
fi
quality() {
    [ -r "$1" ] && "$python" -c 'import sklearn' 2>/dev/null || { echo -; return; }
    "$python" "$source/bench/vectors_sklearn.py" "$1" "$trace/labels.csv"
}
line() {
    if [ "$gensim" = - ]; then
        printf '| %s | %s | - | 20 | - | %s |\n' "$1" "$2" "$3"
    else
        printf '| %s | %s | %s | 20 | %s | %s |\n' "$1" "$2" "$(calc "$gensim / $2" %.1f)" \
            "$(met "$(calc "20 * $2" %.4f)" "$gensim")" "$3"
    fi
}
[ "$gensim" = - ] || printf '| gensim, one worker | %s | 1.0 | - | - | %s |\n' "$gensim" "$(quality "$WORK/gensim.csv")"
line 'stack2vec, one thread' "$own" "$(quality "$WORK/own.csv")"
line "stack2vec, $(nproc) threads" "$own_all" same
cat "$WORK/missing"
rm -f "$WORK/bags" "$WORK/own.csv" "$WORK/gensim.csv"
