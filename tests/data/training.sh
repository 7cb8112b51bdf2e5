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

# One worker was slowed down on purpose: it is the only one that is slow, and all others wait for it.
"$SNAG" analyze "$directory/timeline-AR.json.gz" -o "$run/ar.snag" --quiet >/dev/null || [ $? -eq 3 ]
check "who is slow" "$("$SNAG" ranks "$run/ar.snag" --json | jq -c '[.places[] | select(.verdict == "slow").place]')" '["rank 0 thread 0"]'
check "its cost is not known" "$("$SNAG" ranks "$run/ar.snag" --json | jq -c '[.slowdown, (.places[].cost_ns)] | unique')" '[null]'
check "the others" "$("$SNAG" ranks "$run/ar.snag" --json | jq -c '[.places[] | select(.verdict != "slow") | [.verdict, .waits_for]] | unique')" '[["waits","rank 0 thread 0"]]'

exit $failed
