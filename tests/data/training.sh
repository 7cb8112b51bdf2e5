#!/usr/bin/env bash
# training.sh SNAG SOURCE WORK -- traces of training jobs: eight ranks of PyTorch's profiler, a
# file each, and a timeline of a pipeline-parallel job.
set -euo pipefail
SNAG=$1 SOURCE=$2 WORK=$3
# shellcheck source=find.sh
. "$SOURCE/tests/data/find.sh"

info() {
    "$SNAG" info "$@" --json >"$run/info.json" || [ $? -eq 3 ]
}

field() {
    jq -c "$1" "$run/info.json"
}

find_trace kineto-dlrm
files=("$directory"/*/*.json)
info "${files[@]}"
check "ranks" "$(field .ranks)" 8
check "locations, six of each rank" "$(field '[.location_table[].rank] | group_by(.) | map(length) | unique')" "[6]"
check "streams" "$(field '[.location_table[].name | select(startswith("GPU"))] | length')" 32
check "messages" "$(field .messages)" 0
check "collectives, matched" "$(field '[.collectives, .collectives_in_all, .collectives_matched]')" "[64,8,8]"
check "launches" "$(field '.notes[] | select(test("launched"))')" '"2116 calls on streams have the call that launched them"'
check "suggestion" "$(field .suggestions[0].foi)" '"ProfilerStep"'
check "damage" "$(field .is_damaged)" false
cp "$run/info.json" "$run/first.json"
info "$(dirname "${files[0]}")"
check "a directory is as its files" "$(field 'del(.trace)' | md5sum)" "$(jq -c 'del(.trace)' "$run/first.json" | md5sum)"
mkdir "$run/packed"
for file in "${files[@]}"; do
    gzip -c "$file" >"$run/packed/${file##*/}.gz"
done
info "$run/packed"
check "gzip is as plain" "$(field 'del(.trace)' | md5sum)" "$(jq -c 'del(.trace)' "$run/first.json" | md5sum)"
cat "${files[0]}" "${files[3]}" >"$run/two.json"
info "$run/two.json"
check "two files in one" "$(field '[(.location_table | map(.rank) | unique), .quality.bad_record]')" "[[0,3],null]"

"$SNAG" analyze "$(dirname "${files[0]}")" -o "$run/job.snag" --quiet >/dev/null
check "streams of GPUs" "$("$SNAG" query "$run/job.snag" 'SELECT count(*), min(name) FROM location WHERE is_gpu' --format csv | tail -1)" \
    '32,"GPU 0, stream 22"'
check "executions" "$("$SNAG" query "$run/job.snag" 'SELECT name, trees FROM foi' --format csv | tail -1)" "ProfilerStep,8"

find_trace stragglers-AR
info "$directory/timeline-AR.json.gz"
check "ranks" "$(field .ranks)" 4
check "messages" "$(field '[.sends, .recvs]')" "[33792,33792]"
check "unmatched" "$(field '[.quality.unmatched_send, .quality.unmatched_recv, .clocks.wrong_before]')" "[null,null,0]"
check "collectives" "$(field '[.collectives, .collectives_in_all, .collectives_matched]')" "[2464,572,572]"
check "rules" "$(field '.links[].from')" '"pipeline-parallel training"'
# what the durations of the records add up to, to within what crossing calls are cut by
for what in forward:5445.774 backward:9377.995; do
    check_true "time of ${what%:*}-compute, s" "($(field ".regions[] | select(.name == \"${what%:*}-compute\").inclusive_ns") / 1e9 - ${what#*:}) ^ 2 < 0.01"
done

# One worker was slowed down on purpose: it is the only one that is slow, and all others wait for it. What was
# published of the same trace, with the definitions of the paper, is what is found here.
"$SNAG" analyze "$directory/timeline-AR.json.gz" -o "$run/ar.snag" --quiet >/dev/null || [ $? -eq 3 ]
published=$(jq -c '{slowdown: .blocking_slowdown, rank: .blocking_decompose_by_dp_rank, stage: .blocking_decompose_by_stage,
    operation: .blocking_decompose_by_optype}' "$directory/result-AR.json")
ranks() {
    "$SNAG" ranks "$run/ar.snag" --json "$@"
}
near() { # near WHAT IS PUBLISHED: within 1 %
    check_true "$1: $2, published $3" "($2 / $3 - 1) ^ 2 < 0.0001"
}
check "who is slow" "$(ranks | jq -c '[.places[] | select(.verdict == "slow").place]')" '["rank 0"]'
check "which stage of it" "$(ranks | jq -c '[.places[0].paths[] | select(.kind == "slower") | .stage] | unique')" '[0]'
check "the others" "$(ranks | jq -c '[.places[] | select(.verdict != "slow") | [.verdict, .waits_for]] | unique')" '[["waits","rank 0"]]'
check "of 16 workers" "$(ranks --by worker | jq -c '[.places[] | select(.verdict == "slow").place]')" '["rank 0 stage 0"]'
check "by stage" "$(ranks --by "stage=thread:PP rank" | jq -c '[.places[] | [.place, .verdict]]')" \
    '[["stage 0","slow"],["stage 1","waits"],["stage 2","waits"],["stage 3","waits"]]'
near slowdown "$(ranks | jq .slowdown)" "$(jq .slowdown <<<"$published")"
for r in 0 1 2 3; do
    near "rank $r" "$(ranks | jq ".places[$r].slowdown")" "$(jq ".rank[\"$r\"]" <<<"$published")"
    near "stage $r" "$(ranks --by stage | jq ".places[$r].slowdown")" "$(jq ".stage[\"$r\"]" <<<"$published")"
done
for o in forward-compute backward-compute grads-reduce-scatter params-all-gather optimizer; do
    near "$o" "$(ranks | jq ".operations[] | select(.name == \"$o\").slowdown")" "$(jq ".operation[\"$o\"]" <<<"$published")"
done
what_if=$("$SNAG" what-if "$run/ar.snag" --json)
check_true "played unchanged to within 1 %" "($(jq .replay_ns <<<"$what_if") / $(jq .run_ns <<<"$what_if") - 1) ^ 2 < 0.0001"

exit $failed
