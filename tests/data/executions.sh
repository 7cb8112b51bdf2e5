#!/usr/bin/env bash
# Executions while a program runs against those after the run, on a real trace that is replayed.
#
#   executions.sh SNAG SOURCE WORK EXECUTIONS ARCHIVE FUNCTION STEP... [-- FILE]
set -eu
SNAG=$1 SOURCE=$2 WORK=$3 EXECUTIONS=$4 name=$5 function=$6
shift 6
. "$(dirname "$0")/find.sh"
. "$(dirname "$0")/../live/compare.sh"
steps=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    steps+=("$1")
    shift
done
find_trace "$name" "${2:-$name}"
cd "$run"

same_trees "$archive" "$function" "${steps[@]}"
same_verdicts "$archive" "$function" "0 ${steps[*]}"
"$SNAG" analyze "$archive" --foi "$function" -o run.snag --quiet >/dev/null
"$SNAG" model save run.snag run.model --quiet >/dev/null
same_scores run.model "$archive" "$function" "${steps[@]}"
exit $failed
