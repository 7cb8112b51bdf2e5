#!/usr/bin/env bash
# On a labelled forest the scores reach the area under the precision-recall curve they should.
#
#   labelled.sh SNAG SOURCE WORK NAME FUNCTION LEAST
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace "$4"

"$SNAG" analyze "$archive" --foi "$5" -o "$run/run.snag" --quiet >/dev/null
"$SNAG" evaluate "$run/run.snag" --labels "$directory/labels.csv" --json >"$run/evaluation.json"
cat "$run/evaluation.json"
check "unlabelled executions" "$(jq .unlabelled "$run/evaluation.json")" 0
check "labelled executions" "$(jq .abnormal+.normal "$run/evaluation.json")" \
    "$(($(wc -l <"$directory/labels.csv") - 1))"
check_true "PR-AUC" "$(jq .pr_auc "$run/evaluation.json") >= $6"
exit $failed
