#!/usr/bin/env bash
# snag watch is killed when it has judged so many calls: its child is gone too, the store opens and
# has every row, of records and models, that the page has said to be stored, no record twice, and
# none that cannot be read; and snag serve shows it.
#
#   KILLS=50 kill.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
api=/api/v1
program='synth:3000*step(c@200us >1 <1);ranks=4;jitter=0.05;slow=c/10/30'
echo '{"algorithm": "sstd", "sstd_sigma": 1.5}' >"$work/often.json"

ask() {
    "$SNAG" query "$work/store" "$1" --format csv | tail -n 1
}

# kill_at CALLS: reads how much is stored, again and again, until so many are judged -> $confirmed
kill_at() {
    local child calls=0
    confirmed=0
    while [ "$calls" -lt "$1" ]; do
        get $api/live/status
        read -r calls confirmed <<<"$(jq -r '"\(.calls) \(.store.stored)"' "$body")"
    done
    child=$(cat /proc/$server/task/$server/children)
    kill -9 $server
    wait $server 2>/dev/null
    server=
    for ((i = 0; i < 600; i++)); do
        [ -e "/proc/${child% }/exe" ] || return
        sleep 0.05
    done
    echo "process $child outlives its parent"
    failed=1
}

total=0
for ((life = 0; life < ${KILLS:-4}; life++)); do
    rm -rf "$work/store"
    serving=(watch "$program" --speed 1 --step 0.02 --algo-file "$work/often.json" --store "$work/store")
    start
    kill_at $(((life + 1) * 24000 / (${KILLS:-4} + 1)))
    all='(SELECT event_id, record FROM anomalies UNION ALL SELECT event_id, record FROM normalexecs)'
    n=$(ask "SELECT count(*) FROM $all") || { echo "the store does not open"; failed=1; break; }
    rows=$((n + $(ask "SELECT count(*) FROM ad_model")))
    [ $rows -ge "$confirmed" ] || { echo "$confirmed rows were stored, $rows are there"; failed=1; }
    check "records that can be read" "$(ask "SELECT count(*) FROM $all WHERE json_valid(record)")" "$n"
    check "different records" "$(ask "SELECT count(DISTINCT event_id) FROM $all")" "$n"
    total=$((total + confirmed))
done
echo "$life kills, $total rows confirmed"
[ $total -gt 0 ] || { echo "nothing was ever stored"; failed=1; }

n=$(ask "SELECT count(*) FROM anomalies")
serving=(serve "$work/store")
start
get $api/live/records
check "records on the page" "$(jq .total "$body")" "$n"
stop

# What was said of all calls is there too, as it was a moment before.
rm -rf "$work/store"
serving=(watch "${program/3000/300000}" --speed 1 --step 0.02 --store "$work/store")
start
for ((i = 0; i < 600; i++)); do
    calls=$(ask "SELECT coalesce(sum(calls), 0) FROM func_stats" 2>/dev/null)
    [ "${calls:-0}" -le 1000 ] || break
    sleep 0.05
done
kill -9 $server
wait $server 2>/dev/null
serving=(serve "$work/store")
start
get $api/run
[ "$(jq .n_calls "$body")" -ge "$calls" ] && [ "$calls" -gt 1000 ] ||
    { echo "the page says $(jq .n_calls "$body") calls, the store said $calls"; failed=1; }
stop
exit $failed
