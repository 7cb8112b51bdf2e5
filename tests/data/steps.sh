#!/usr/bin/env bash
# The loop that is found with all calls but MPI's hidden is the steps of the program.
#
#   steps.sh SNAG SOURCE WORK ARCHIVE STEPS RANKS FUNCTION
#
# FUNCTION is what the program calls once in every step: in the same trace, with its functions, it
# says whether iteration i is step i on all ranks.
set -eu
SNAG=$1 SOURCE=$2 WORK=$3 name=$4 steps=$5 ranks=$6 function=$7
. "$(dirname "$0")/find.sh"
. "$(dirname "$0")/../live/compare.sh"
find_trace "$name"
cd "$run"

SNAG_MPI_ONLY=1 damaged_too "$SNAG" analyze "$archive" --quiet -o loop.snag >text
damaged_too "$SNAG" analyze "$archive" --foi "$function" --quiet -o function.snag >/dev/null
check_true "a loop is taken" "$(grep -c "taking the best suggestion, 'loop@" text) == 1"

# executions RUN: "rank index begin end" of each, in order.
executions() {
    "$SNAG" list "$1" --all --json |
        jq -r 'select(.enter_ns) | [.rank, .index, .enter_ns, .enter_ns + .duration_ns] | @tsv' | sort -n -k1 -k2
}
executions loop.snag >loop
executions function.snag >function
check "ranks" "$(cut -f1 loop | sort -u | wc -l)" "$ranks"
check "iterations that some rank has not" "$(cut -f2 loop | sort -n | uniq -c | awk -v n="$ranks" '$1 != n' | wc -l)" 0
check "iterations of a rank" "$(cut -f2 loop | sort -un | wc -l)" "$steps"

# Iteration i has more of step i than of any other.
check "iterations that are another step" "$(paste loop function | awk '
    { begin = $3 > $7 ? $3 : $7; end = $4 < $8 ? $4 : $8; if (end - begin < ($8 - $7) / 2) n++ } END { print n + 0 }')" 0
exit $failed
