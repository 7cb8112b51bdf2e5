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
done < <("$SNAG" list "$run/r.snag" --by cost --top 3 --json | jq -r 'select(.cost_ns > 0) | "\(.id) \(.cost_ns)"')
while read -r id cost; do
    check "cost of $id is at most $cost" "$(what_if --without "$id" | jq ".saved_ns >= 0 and .saved_ns <= $cost")" true
done < <("$SNAG" list "$run/r.snag" --by lost --top 1000 --json | jq -r 'select(.cost_is_bound) | "\(.id) \(.cost_ns)"' | head -3)
while read -r id; do
    check "cost of $id is nothing" "$(what_if --without "$id" | jq .saved_ns)" 0
done < <("$SNAG" list "$run/r.snag" --by lost --top 1000 --json | jq -r 'select(.cost_ns == 0) | .id' | head -3)

# What Scalasca says of the same run, of the instances whose ranks are here: the event file of rank 4 is missing, so
# of its two worst late senders one is (that of rank 6, 10.437 ms, waited for rank 4); and of those that also
# came in the wrong order, the worst of rank 3. The sum of the ranks that are here is 68 % of all.
if [ "$4" = scorep-bt-mz ]; then
    late=$(what_if | jq -c .late_senders)
    said=$(awk '/^mpi_latesender /{on = 1} on && /rank: 7/{printf "%.0f", $9 * 1e9; exit}' "$directory/trace.stat")
    check "the worst late sender of rank 7" "$(jq ".worst[] | select(.enter_ns == 1302472276 and .rank == 7).wait_ns" <<<"$late")" "$said"
    check "rank 3's, in the wrong order" "$(jq '[.worst[] | select(.rank == 3) | .wait_ns] | contains([3896428])' <<<"$late")" true
    omp=$(awk '/^omp_ibarrier_wait /{printf "%.0f", $7 * 1e9 * 7 / 8}' "$directory/trace.stat")
    waits=$(what_if | jq '([.waits[].before_ns] | add) - .late_senders.sum_ns')
    check "waiting in barriers of threads, of the seven ranks that are here" \
        "$(jq -n "($waits - $omp | fabs) <= $omp / 20")" true
    check "threads take part but those of rank 4, whose forks are not here" "$(what_if | jq .left_out)" 3
    check "what a thread did late is in what made its team" \
        "$(what_if --without '#0-9' | jq '.cut_ns >= 0.9 * .excess_ns and .saved_ns > .excess_ns / 4')" true
    check "no late sender is counted twice" "$(jq '.count <= 3142 and .sum_ns < 3650557248' <<<"$late")" true
fi
exit $failed
