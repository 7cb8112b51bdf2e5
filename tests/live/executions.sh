#!/usr/bin/env bash
# Executions while a program runs against the same after the run, on synthetic traces: the trees
# whatever the steps, the verdicts whatever the steps, the scores of a model as snag score's.
#
#   executions.sh SNAG EXECUTIONS
set -eu
SNAG=$1 EXECUTIONS=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
. "$here/compare.sh"

program='90*step(compute@1ms(a 3*b) >1 <1 c@200us | d@100us(e a));ranks=4;jitter=0.2'
learnt="synth:$program;seed=3;slow=c/31/30;slow=e/47/80"
fresh="synth:new(step@1ms) $program;seed=4;slow=c/29/30;slow=compute/41/9/2" # starts otherwise

same_trees "$fresh" step 0 0.0005 0.0037 0.1
same_trees "$fresh" new 0 0.0005
same_trees "$fresh" d 0.0002
same_verdicts "$fresh" step "0 0.0005 0.0037 0.1"
needs_anomalies first.csv
same_records "$fresh" step "0 0.0005 0.0037 0.1"
same_verdicts "$fresh" step "0 0.0037" --features duration,exclusive,calls,messages,rate,depth --plain
needs_anomalies first.csv

"$SNAG" analyze "$learnt" --foi step -o run.snag --quiet >/dev/null
"$SNAG" model save run.snag plain.model --quiet >/dev/null
same_scores plain.model "$fresh" step 0 0.0037 0.1
needs_anomalies after.csv
same_verdicts "$fresh" step "0 0.0037 0.1" --model plain.model
needs_anomalies first.csv

"$SNAG" label run.snag '#0-30=abnormal' '#1-30=abnormal' '#2-5=normal' '#0-46=normal' --quiet >/dev/null
"$SNAG" retrain run.snag --quiet >/dev/null
"$SNAG" model save run.snag labelled.model --quiet >/dev/null
same_scores labelled.model "$fresh" step 0.0037
needs_anomalies after.csv

for features in residual stack2vec; do
    "$SNAG" analyze "$learnt" --foi step -o run.snag --force --quiet --detector ocsvm \
        --features $features --dimensions 16 >/dev/null
    "$SNAG" model save run.snag svm.model --quiet >/dev/null
    same_scores svm.model "$fresh" step 0.0037 0.1
    needs_anomalies after.csv
done
# The model of a run without any anomaly has no threshold.
quiet='synth:500*step(a@1ms b(c@1ms d@2ms >1 <1));ranks=4;jitter='
"$SNAG" analyze "${quiet}0.02" --foi step -o run.snag --force --quiet >/dev/null
[ "$("$SNAG" query run.snag "SELECT count(*) FROM execution WHERE verdict = 'anomaly'" --format csv |
    tail -n 1)" = 0 ] || complain "the quiet run is not"
"$SNAG" model save run.snag quiet.model --quiet >/dev/null
same_scores quiet.model "${quiet}0.1;slow=d/97/5;seed=5" step 0.0037 0.1
needs_anomalies after.csv
"$SNAG" retrain scored.snag --json --quiet >retrained.json # and nothing changes without labels
grep -q '"changes": \[\]' retrained.json || complain "verdicts change without labels: $(cat retrained.json)"
exit $failed
