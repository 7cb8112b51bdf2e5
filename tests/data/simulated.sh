#!/usr/bin/env bash
# Active learning as in the paper, stack2vec and the one-class SVM, ten labels per round, played
# with the known labels: after so many the ranking is as good as it should be.
#
#   simulated.sh SNAG SOURCE WORK NAME FUNCTION LABELS LEAST
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace "$4"

"$SNAG" analyze "$archive" --foi "$5" --features stack2vec --detector ocsvm -o "$run/run.snag" --quiet >/dev/null
"$SNAG" evaluate "$run/run.snag" --labels "$directory/labels.csv" --simulate "$6" --batch 10 \
    --features stack2vec --learner ocsvm --json >"$run/evaluation.json"
jq -c '.curve[] | [.labels, .pr_auc]' "$run/evaluation.json" | tr '\n' ' '
check "labels given" "$(jq '.curve[-1].labels' "$run/evaluation.json")" "$6"
check_true "PR-AUC after $6 labels" "$(jq '.curve[-1].pr_auc' "$run/evaluation.json") >= $7"
exit $failed
