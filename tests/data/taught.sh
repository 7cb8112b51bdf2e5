#!/usr/bin/env bash
# Labels help on a labelled forest: played with the known ones, in batches of 1, 5 and 10, the
# ranking is never much worse than before them, and as good as it should be in the end.
#
#   taught.sh SNAG SOURCE WORK NAME FUNCTION LABELS LEAST
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace "$4"

"$SNAG" analyze "$archive" --foi "$5" -o "$run/run.snag" --quiet >/dev/null
for batch in 1 5 10; do
    "$SNAG" evaluate "$run/run.snag" --labels "$directory/labels.csv" --simulate "$6" --batch $batch --json >"$run/curve.json"
    jq -c '[.curve[] | select(.labels % 10 == 0) | .pr_auc]' "$run/curve.json"
    check "labels given in batches of $batch" "$(jq '.curve[-1].labels' "$run/curve.json")" "$6"
    check_true "PR-AUC after $6 labels in batches of $batch" "$(jq '.curve[-1].pr_auc' "$run/curve.json") >= $7"
    check "rounds of ten with a PR-AUC more than .005 below the one without labels" \
        "$(jq '.curve[0].pr_auc as $start | [.curve[] | select(.labels % 10 == 0 and .pr_auc < $start - 0.005)] | length' "$run/curve.json")" 0
done
exit $failed
