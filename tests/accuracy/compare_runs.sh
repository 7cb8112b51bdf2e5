#!/usr/bin/env bash
# How often snag compare says slower or faster of runs of the same program, and how often it finds
# a path that became slower. Runs are made up; they differ by a factor of the whole run and one of
# each function, as those of real programs do, and by calls.
#
#   compare_runs.sh SNAG [COMPARISONS] [BASES] [NOISE] [OWN]
#
#   COMPARISONS  of each kind (200)
#   BASES        runs before, against one after ("5")
#   NOISE        sigma of the log of a run's factor (0.01)
#   OWN          the same of each function in it (0.003)
#
# Says a line per number of base runs and change: slower, faster, same and unsure, of how many; how
# often the path that changed is called slower, and how often it stands first as well; and how often a
# fixed limit of 5 % would have been passed. Exits 1 when, of unchanged runs, more than one in a hundred
# is called slower or faster, or when with five base runs fewer than 95 % of the changes of 10 % are
# found. FACTORS, in the environment: of kernel, in place of "1 1.02 1.05 1.1 1.5".
set -eu
snag=$1 n=${2:-200} bases=${3:-5} noise=${4:-0.01} own=${5:-0.003}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# program SEED FACTOR -- of kernel, as one line
program() {
    awk -v seed="$1" -v factor="$2" -v noise="$noise" -v own="$own" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
    function t(ns) { return sprintf("%dns", ns * all * exp(own * normal())) }
    BEGIN {
        srand(seed)
        for (i = 0; i < 20; i++) rand()
        all = exp(noise * normal())
        printf "synth:50*round(step@%s(pack@%s solve@%s(4*kernel@%s) build@%s >1 <1)", t(20000), t(1e5),
            t(2e5), t(1e5 * factor), t(1e5)
        printf " 3*step@%s(pack@%s solve@%s(4*kernel@%s) >1 <1));ranks=4;jitter=0.05;seed=%d\n", t(20000), t(1e5),
            t(2e5), t(1e5 * factor), seed
    }'
}

# measured K FACTOR -- one comparison a line: verdict, change, that of kernel, what stands first
measured() {
    local k=$1 factor=$2 seed=${3} i base
    for ((i = 0; i < n; i++)); do
        base=()
        for ((j = 0; j < k; j++)); do
            seed=$((seed + 1))
            "$snag" analyze "$(program $seed 1)" --foi step -o b$j --force --quiet >/dev/null
            base+=(--base b$j)
        done
        seed=$((seed + 1))
        "$snag" analyze "$(program $seed "$factor")" --foi step -o new --force --quiet >/dev/null
        "$snag" compare "${base[@]}" new --json >json
        jq -r '[.verdict, .change, ([.paths[] | select(.path == "step > solve > kernel")][0].verdict),
            .paths[0].path] | @tsv' json
    done
}

status=0
printf 'base runs\tchange\tslower\tfaster\tsame\tunsure\tpath found\tand first\tby 5 %%\n'
for k in $bases; do
    for factor in ${FACTORS:-1 1.02 1.05 1.1 1.5}; do
        measured "$k" "$factor" $((k * 1000000 + ${factor/./} * 10000)) >table
        awk -F'\t' -v k="$k" -v factor="$factor" '
        { is[$1]++; found += $3 == "slower"; first += $3 == "slower" && $4 == "step > solve > kernel"
          fixed += $2 > 0.05 || $2 < -0.05 }
        END {
            printf "%d\t%+g %%\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", k, 100 * (factor - 1), is["slower"], is["faster"],
                is["same"], is["unsure"], found, first, fixed
            if (factor == 1 && is["slower"] + is["faster"] > NR / 100) exit 1
            if (k == 5 && factor == 1.1 && (is["slower"] < 0.95 * NR || first < 0.95 * NR)) exit 1
        }' table || status=1
    done
done
exit $status
