#!/usr/bin/env bash
# Steps of real programs, followed while they are replayed, without their functions: from the first that is
# followed to the last but one each has its number on all ranks.
#
#   live_steps.sh SNAG SOURCE WORK EXECUTIONS ARCHIVE STEPS RANKS FUNCTION
#
# FUNCTION is what the program calls once in every step.
set -eu
SNAG=$1 SOURCE=$2 WORK=$3 EXECUTIONS=$4
. "$(dirname "$0")/find.sh"
find_trace "$5"
steps=$6 ranks=$7
cd "$run"

# executions STEP FUNCTION: rank, number, begin, end, of masters.
executions() {
    "$EXECUTIONS" --step "$1" "$archive" "$2" | sed 1d | grep -v '^#[0-9]*\.' | tr '#,-' '   ' |
        awk '{ printf "%d %d %.0f %.0f\n", $1, $2, $4, $4 + $5 }' | sort -n -k1 -k2
}

executions 1 "$8" >function
for step in 0.02 0.5; do
    SNAG_MPI_ONLY=1 executions "$step" loop >loop
    check "ranks, in steps of $step s" "$(cut -d' ' -f1 loop | sort -u | wc -l)" "$ranks"
    check "last of each rank" "$(awk '{ last[$1] = $2 } END { for (r in last) print last[r] }' loop | sort -u)" \
        $((steps - 2))
    check "iterations that lack between" "$(awk '($1 in last) && $2 != last[$1] + 1 { n++ } { last[$1] = $2 }
        END { print n + 0 }' loop)" 0
    check "ranks that have less than half of the steps" "$(cut -d' ' -f1 loop | uniq -c |
        awk -v steps="$steps" '$1 < steps / 2' | wc -l)" 0
    check "iterations that do not begin between the ends of the step before and of their own" \
        "$(awk 'FNR == NR { end[$1, $2] = $4; next }
            $3 < end[$1, $2 - 1] || $3 > end[$1, $2] { n++ } END { print n + 0 }' function loop)" 0
done
exit $failed
