#!/usr/bin/env bash
# The trace of the paper: the numbers it gives, and the executions it found by hand.
#
#   paper.sh SNAG SOURCE WORK
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace lammps-eam lammps-paper

"$SNAG" analyze "$archive" --foi PairEAM::compute -o "$run/run.snag" --json --quiet >"$run/foi.json"
check "trees, vertices, messages, unique subtrees, depth" \
    "$(jq -c '[.trees, .vertices, .messages, .unique_subtrees, .max_depth]' "$run/foi.json")" \
    "[724,109226,40480,42,4]"

"$SNAG" list "$run/run.snag" --top 25 --json | jq -r .id >"$run/first"
for id in '#0-40' '#1-40'; do # 9.56 of 41.4 ms were the tracer's
    head -10 "$run/first" | grep -qx "$id" || {
        echo "$id is not among the first 10"
        failed=1
    }
done
for id in '#0-0' '#0-161' '#0-201' '#1-0' '#1-161' '#1-201'; do
    grep -qx "$id" "$run/first" || {
        echo "$id is not among the first 25"
        failed=1
    }
done

# Of what #1-40 lost, nearly all was lost waiting or flushing the trace; the first line says so.
"$SNAG" show "$run/run.snag" '#1-40' --json >"$run/show.json"
share=$(jq '[.paths[] | select(.excess_ns > 0)]
            | ([.[] | select(.path[-1] | test("^(MPI_Wait|MPI_Send|FLUSH)"))] | map(.excess_ns) | add)
              / (map(.excess_ns) | add)' "$run/show.json")
check_true "share of the excess in MPI_Wait, MPI_Send and FLUSH" "$share > 0.9"
"$SNAG" show "$run/run.snag" '#1-40' | sed -n 2p | grep -Eq 'MPI_Wait|MPI_Send|FLUSH' || {
    echo "the reason given for #1-40 does not name MPI_Wait, MPI_Send or FLUSH"
    failed=1
}
echo "first:" $(cat "$run/first")
exit $failed
