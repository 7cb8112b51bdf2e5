#!/usr/bin/env bash
# As compare_runs.sh, with a real program: md, recorded by its hooks, again and again on this machine.
#
#   compare_md.sh SNAG MD [RUNS] [COMPARISONS]
#
#   RUNS         of the unchanged program (40); half as many of each that is slower
#   COMPARISONS  drawn from them (100)
#
# Says, for every number of runs before: of unchanged runs, how often one is called slower or faster,
# and how often a fixed limit of 5 % or a t-test (of the means of the runs, at 5 %) would have said so; and
# when the forces take 2, 5, 10 and 50 % longer (--slower), how often pair_forces is called slower, and
# stands first. The machine should have nothing else to do. Of two ranks, each as long as a second.
set -eu
snag=$(realpath "$1") md=$(realpath "$2") n=${3:-40} n_draws=${4:-100}
mpirun=${MPIEXEC:-mpirun}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset ${!SNAG_*}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

run() { # NAME PERCENT
    "$snag" record --quiet -o trace -- "$mpirun" -n 2 "$md" --steps 400 --particles 2000 --slower "$2" >/dev/null
    "$snag" analyze trace --foi step -o "$1" --quiet >/dev/null
    rm -rf trace
}

for ((i = 0; i < n; i++)); do
    run "same$i" 0
    for percent in 2 5 10 50; do [ $((i % 2)) -eq 1 ] || run "p$percent-$((i / 2))" $percent; done
done

# draw K KIND SEED -- K unchanged runs, and one of a kind that is none of them
draw() {
    awk -v k="$1" -v kind="$2" -v seed="$3" -v n="$n" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) order[i] = i
        for (i = n - 1; i > 0; i--) { j = int(rand() * (i + 1)); t = order[i]; order[i] = order[j]; order[j] = t }
        for (i = 0; i < k; i++) printf "--base same%d ", order[i]
        print kind == "same" ? "same" order[k] : kind "-" int(rand() * int((n + 1) / 2))
    }'
}

printf 'base runs\tchange\tslower\tfaster\tsame\tunsure\tpath found\tand first\tby 5 %%\n'
for k in 1 3 5 10; do
    for kind in same p2 p5 p10 p50; do
        for ((i = 0; i < n_draws; i++)); do
            # shellcheck disable=SC2046
            "$snag" compare $(draw "$k" $kind $((1000 * k + i))) --json >json
            jq -r '[.verdict, .change, ([.paths[] | select(.path == "step > pair_forces")][0].verdict),
                .paths[0].path] | @tsv' json
        done | awk -F'\t' -v k="$k" -v kind="$kind" '
            { is[$1]++; found += $3 == "slower"; first += $3 == "slower" && $4 == "step > pair_forces"
              fixed += $2 > 0.05 || $2 < -0.05 }
            END { printf "%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", k, kind, is["slower"], is["faster"], is["same"],
                is["unsure"], found, first, fixed }'
    done
done
