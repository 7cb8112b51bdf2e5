#!/usr/bin/env bash
# A real trace, played again unchanged, takes as long as it took; what an execution cost in the lists is what
# snag what-if says of it alone.
#
#   replay.sh SNAG SOURCE WORK ARCHIVE FUNCTION
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace "$4"
"$SNAG" analyze "$archive" --foi "$5" -o "$run/r.snag" --quiet >/dev/null || [ $? -eq 3 ]

what_if() {
    "$SNAG" what-if "$run/r.snag" --json "$@"
}

echo "$(what_if | jq -c '{run_ns, replay_ns, left_out, ends_of_messages, matched, eager_bytes}')"
check "the run is played to within 1 %" "$(what_if | jq '(.replay_ns - .run_ns | fabs) <= .run_ns / 100')" true
check "nothing is cut, nobody waits less" "$(what_if | jq 'all(.waits[]; .before_ns == .after_ns)')" true
check "no cost is above what was lost" "$("$SNAG" query "$run/r.snag" \
    'SELECT count(*) AS n FROM execution WHERE cost_ns < 0 OR cost_ns > lost_ns + 1' --json | jq .n)" 0
while read -r id cost; do
    check "cost of $id" "$(what_if --without "$id" | jq .saved_ns)" "$cost"
done < <("$SNAG" list "$run/r.snag" --by cost --top 5 --json | jq -r 'select(.cost_ns) | "\(.id) \(.cost_ns)"')
exit $failed
