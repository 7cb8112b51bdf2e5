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

case $name in # of whom it may not be known in time how long they waited for others
md_s1 | lammpsh_s1 | lammps-eam | lammps-eam-eztrace-inj) may_be_unknown 1000 "the clocks of ranks contradict each other" ;;
lulesh-fn8) may_be_unknown 5 "the other end of a message had not been read when it was needed" ;;
scorep-bt-mz) may_be_unknown 1000 "the other end of a message had not been read when it was needed" ;; # a rank has no file
esac

same_trees "$archive" "$function" "${steps[@]}"
same_verdicts "$archive" "$function" "0 ${steps[*]}"

# Models of several kinds judge it; the last one without any anomaly in its run, and of another
# program. save NAME [OPTION...]: of a run of its own.
save() {
    local model=$1
    shift
    damaged_too "$SNAG" analyze "$archive" --foi "$function" -o run.snag --force --quiet "$@" >/dev/null
    "$SNAG" model save run.snag "$model" --quiet >/dev/null
}
save residual.model
"$SNAG" list run.snag --top 3 --json | jq -r '.[].id? // .id' | sed 's/$/=abnormal/' >labels
"$SNAG" list run.snag --top 9 --json | jq -r '.[].id? // .id' | tail -n 2 | sed 's/$/=normal/' >>labels
mapfile -t labels <labels
"$SNAG" label run.snag "${labels[@]}" --quiet >/dev/null
"$SNAG" retrain run.snag --quiet >/dev/null
"$SNAG" model save run.snag labelled.model --quiet >/dev/null
save svm-residual.model --detector ocsvm --features residual
save svm-stack2vec.model --detector ocsvm --features stack2vec
models=(residual labelled svm-residual svm-stack2vec)
if [ "$("$SNAG" model info residual.model --json | jq -r .foi)" = "$function" ]; then
    "$SNAG" analyze "synth:500*$function(a@1ms b(c@1ms d@2ms >1 <1));ranks=4;jitter=0.02" --foi "$function" \
        -o other.snag --quiet >/dev/null
    "$SNAG" model save other.snag other.model --quiet >/dev/null
    models+=(other)
fi
for model in "${models[@]}"; do
    same_scores $model.model "$archive" "$function" "${steps[@]}"
done
exit $failed
