#!/usr/bin/env bash
# The routes of snag watch answer, as src/serve/openapi.json describes them, while the program runs
# and after it; clients that read nothing stop nobody; and so does what snag serve shows of a
# store.
#
#   live.sh SNAG VALIDATE NONSENSE SAMPLE_STORE
. "$(dirname "$0")/server.sh"
sample_store=$4
api=/api/v1
cd "$work" || exit 1 # where stores are made
program='synth:3000*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/80/30/1'

try() { # PATTERN PATH: GET it, 200, valid
    get "$api$2"
    check "$2" "$status" 200
    valid get "$1"
}
problem() { # PATTERN PATH STATUS
    get "$api$2"
    check "$2" "$status" "$3"
    check "type of $2" "$(header content-type)" application/problem+json
    valid get "$1"
}
field() { # FILTER: of the JSON that came last
    jq -c "$1" "$body"
}
bundle_field() {
    head -c 4096 "$body" | tail -c +9 | tr -d '\0' | grep -aoP "\"$1\":\K[0-9]+" | head -n 1
}
try_all() {
    try /live/status /live/status
    try /live/points /live/points
    try /live/points '/live/points?since=10&fois=2,4&ranks=0,1&from=1000&to=900000000&most=50'
    try /live/heatmap /live/heatmap
    [ "${is_past:-}" ] || try /live/heatmap '/live/heatmap?what=exclusive_ns&from=1000&to=900000000&width=10'
    try /live/ranks /live/ranks
    try /live/slow /live/slow
    try /live/regions '/live/regions?by=severity_ns.maximum&limit=2&order=least'
    for part in total mean deviation minimum maximum last delta; do
        try /live/ranks "/live/ranks?by=anomalies.$part"
    done
    try /live/history '/live/history?rank=1&width=7'
    try /live/history '/live/history?region=1'
    try /live/counters /live/counters
    try /live/model '/live/model?region=1'
    try /run /run
    check "live" "$(field .is_live)" true
}

# wait_for FILTER: until the status is as it says
wait_for() {
    local i
    for ((i = 0; i < 600; i++)); do
        get $api/live/status
        [ "$(field "$1")" = true ] && return
        sleep 0.05
    done
    echo "it never was: $1"
    failed=1
}

# While it runs, for longer than this takes; and clients that ask and read nothing.
serving=(watch 'synth:6000*step(compute@50ms(a 3*b) c@10ms);ranks=3;jitter=0.1' --speed 2 --step 0.1)
start
wait_for '.steps > 3'
check "state" "$(field .state)" '"running"'
exec 7<>"/dev/tcp/127.0.0.1/$port" 8<>"/dev/tcp/127.0.0.1/$port"
printf 'GET %s/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' $api >&7
for ((i = 0; i < 50; i++)); do
    printf 'GET %s/live/points?most=200000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' $api >&8
done
try_all
get $api/live/points
next=$(bundle_field next)
[ -n "$(header etag)" ] || { echo "no ETag of points"; failed=1; }
get $api/live/status
wait_for ".points.next > $next and .steps > $(field .steps)"
get "$api/live/points?since=$next"
[ "$(bundle_field next)" -gt "$next" ] || { echo "no new points"; failed=1; }
check "points missed" "$(bundle_field missed)" 0
curl -sN -m 60 "$base$api/events" | grep -m 2 -A 1 '^event: step$' >"$work/events"
sed -n 's/^data: //p' "$work/events" | jq -se 'length == 2 and .[0].version < .[1].version' >/dev/null ||
    { echo "events are not as described: $(cat "$work/events")"; failed=1; }
exec 7>&- 8>&-
get $api/live/status
check "state" "$(field .state)" '"running"'
stop
grep -q 'calls, .* strange, interrupted$' "$work/said" || { echo "no totals: $(cat "$work/said")"; failed=1; }

# A short run.
serving=(watch "$program" --speed 0 --step 0.1)
start
# After it: everything stays, and is what snag ad counts.
wait_for '.state == "over"'
"$SNAG" ad "$program" --step 0.1 --json >"$work/ad"
check "the totals of snag ad" "$(field '[.events, .calls, .anomalies, .unjudged]')" \
    "$(jq -c '[.events, .calls, .anomalies, .unjudged]' "$work/ad")"
try_all
check "two ask the same" "$(get $api/live/ranks; cksum <"$body")" "$(get $api/live/ranks; cksum <"$body")"
get $api/live/ranks
etag=$(header etag)
get $api/live/ranks -H "If-None-Match: $etag"
check "ranks again" "$status" 304
get $api/live/ranks
check "strange is rank 1 alone" "$(field '[.items[] | [.rank, (.anomalies.total > 0)]]')" \
    '[[1,true],[0,false],[2,false]]'
get "$api/live/regions?by=anomalies"
check "and c" "$(field '[.items[0].name, .items[0].anomalies.total == ([.items[].anomalies.total] | add)]')" '["c",true]'
region=$(field '.items[0].region')
check "its history" "$(field '.items[0] | .anomalies.total == (.history.values | add)')" true
get "$api/live/model?region=$region"
check "calls in the histogram" "$(field '.calls == ([.bins[][2]] | add) and (.usual_ns | length) > 0')" true

problem /live/points '/live/points?since=x' 400
problem /live/points '/live/points?fois=99' 400
problem /live/points '/live/points?most=0' 400
problem /live/heatmap '/live/heatmap?what=colour' 400
problem /live/ranks '/live/ranks?by=anomalies.colour' 400
problem /live/ranks '/live/ranks?order=up' 400
problem /live/history /live/history 404
problem /live/history '/live/history?rank=77' 404
problem /live/model '/live/model?region=99' 404
try /live/records /live/records
check "records are the anomalies" "$(field .total)" "$(jq .anomalies "$work/ad")"
id=$(field '.items[0].id')
try '/live/record/{id}' "/live/record/$id"
try /live/call "/live/call?$(jq -r '.record | "rank=\(.rid)&thread=\(.tid)&region=\(.fid)&enter=\(1000 * .entry | round)"' "$body")"
check "the same call, of the last steps" "$(field '[.record.func, (.lanes[0].calls | map(select(.is_this)) | length)]')" '["c",1]'
problem /live/call '/live/call?rank=0&enter=1' 404
problem /live/call '/live/call?rank=77' 404
problem '/live/record/{id}' /live/record/999999999 404
problem /regions /regions 404
problem /timeline /timeline 404
get /metrics
grep -q '^snag_live_events_total [1-9]' "$body" || { echo "no count of events"; failed=1; }
"$NONSENSE" "$openapi" "$port" "${REQUESTS:-600}" 2 || failed=1
get $api/live/status
check "alive" "$status" 200
kill -TERM $server
wait $server || { echo "exit status $? after SIGTERM"; failed=1; }
server=
grep -q 'calls, .* strange' "$work/said" || { echo "no totals: $(cat "$work/said")"; failed=1; }
grep -vE '^snag: warning: serve: ' "$work/errors" && failed=1

# A store that is removed while the program runs: it is said wherever one looks.
serving=(watch 'synth:6000*step(compute@50ms(a 3*b) c@10ms);ranks=3;jitter=0.1;slow=c/80/30/1' --speed 2 --step 0.1 --store "$work/gone")
start
wait_for '.store.stored > 0'
get /healthz
check "healthz while all is well" "$status $(cat "$body")" '200 ok'
check "error while all is well" "$(get $api/live/status; field .store.error)" null
rm -r "$work/gone"
wait_for '.store.is_failing'
valid get /live/status
check "stored" "$(field '[.store.stored, .store.dropped > 0]')" '[0,true]'
check "error" "$(field '.store.error | test("removed")')" true
get /healthz
check "healthz" "$status" 503
grep -q 'cannot be written: .*removed' "$body" || { echo "healthz says: $(cat "$body")"; failed=1; }
kill -TERM $server
wait $server
check "exit status" $? 3
server=
check "lines of the log" "$(grep -c 'shard 0 cannot be written' "$work/errors")" 1

# With the program.
"$SNAG" watch "$program" --speed 0 --once >"$work/said" || { echo "exit status of --once: $?"; failed=1; }
check "lines of --once" "$(wc -l <"$work/said")" 5
check "where it goes" "$(sed -n 2p "$work/said")" "strange calls and executions are stored in watch-3.store"
check "what shows it again" "$(tail -n 1 "$work/said")" "snag serve watch-3.store shows it again"
"$SNAG" watch nowhere >"$work/said" 2>&1
check "no such source" $? 1

# What snag watch has stored is shown again.
serving=(serve watch-2.store)
start
try /live/records /live/records
check "records of before" "$(field .total)" "$(jq .anomalies "$work/ad")"
stop

# Executions of functions of interest are points too, with all that is inside them.
serving=(watch "$program" --speed 0 --step 0.1 --foi compute)
start
wait_for '.state == "over"'
[ "$(field '.fois | length')" = 1 ] || { echo "no function of interest: $(cat "$body")"; failed=1; }
get "$api/live/regions?limit=100"
check "it" "$(field '[.items[] | select(.is_foi) | .name]')" '["compute"]'
get "$api/live/points?most=100000&fois=$(field '[.items[] | select(.is_foi) | .region][0]')"
valid get /live/points
[ "$(bundle_field shown)" -ge 9000 ] || { echo "$(bundle_field shown) executions of 9000"; failed=1; }
stop

# Executions of a function of interest are points, and calls where they are asked for; a point's
# record is found by what the point says. FOI, then what shows its store again.
executions_of() {
    try /live/points /live/points
    check "kind of points" "$(head -c 4096 "$body" | grep -ao '"kind":"[a-z]*"')" '"kind":"executions"'
    try /live/points '/live/points?kind=calls&most=10'
    check "kind of points" "$(head -c 4096 "$body" | grep -ao '"kind":"[a-z]*"')" '"kind":"calls"'
    problem /live/points '/live/points?kind=regions' 400
    try /live/records '/live/records?kind=executions&order=longest'
    check "records of executions" "$(field '.total > 0 and all(.items[]; .func == "step" and .execution.calls == 7)')" true
    query=$(field '.items[0] | "program=\(.program)&rank=\(.rank)&thread=\(.thread)&index=\(.execution.index)"' | tr -d '"')
    try /live/records "/live/records?kind=executions&function=step&$query"
    check "one of them" "$(field '[.total, .items[0].execution.id[:3]]')" '[1,"#1-"]'
    try '/live/record/{id}' "/live/record/$(field '.items[0].id')"
    check "why, and its calls" "$(field '[(.record.execution.why | length > 20), (.lanes[0].calls | length), .lanes[0].calls[0].is_this]')" '[true,7,true]'
    try /live/records '/live/records?kind=executions&collection=normalexecs'
    check "normal ones" "$(field '.total > 0')" true
    try /live/records '/live/records?kind=calls'
    check "records of calls" "$(field '.total > 0 and all(.items[]; .execution == null)')" true
    problem /live/records '/live/records?kind=regions' 400
}
serving=(watch "$program" --speed 0 --step 0.1 --foi step --store "$work/foi")
start
wait_for '.state == "over"'
try_all
get $api/live/status
check "executions" "$(field '[.points.kind, .executions.total, .executions.unjudged, .points.next]')" '["executions",9000,30,9000]'
strange=$(field .executions.anomalies)
check "steps, as the program's last line has them" "$(field .steps)" \
    "$("$SNAG" ad "$program" --step 0.1 --foi step --json | jq .steps)"
calls=$(field .calls) regions=$(field .regions)
get "$api/live/regions?by=exclusive_ns.mean"
times=$(field '[.items[] | [.name, .calls, .exclusive_ns.total, (.exclusive_ns.mean | round)]]')
executions_of
get "$api/live/records?kind=executions"
check "all that are strange have records" "$(field .total)" "$strange"
stop
serving=(serve "$work/foi")
start
executions_of
try /live/status /live/status
check "executions of before" "$(field '[.points.kind, .executions.anomalies]')" "[\"executions\",$strange]"
# Records are of some calls: how many there were of all is what statistics say, or not known.
check "calls and regions of before" "$(field '[.calls, .regions]')" "[$calls,$regions]"
check "not known" "$(field '[.steps, .events, .messages, .unjudged, .slight, .lost_events, .events_per_s, .executions.total, .executions.unjudged] | unique')" '[null]'
try /live/regions '/live/regions?by=exclusive_ns.mean'
check "times of functions" "$(field '[.items[] | [.name, .calls, .exclusive_ns.total, (.exclusive_ns.mean | round)]]')" "$times"
try /live/ranks '/live/ranks?by=exclusive_ns.mean'
check "times of ranks" "$(field '[.items[] | .calls, .exclusive_ns.mean, .anomalies.mean, (.history.values | length)] | unique')" '[null,0]'
try /live/ranks '/live/ranks?by=anomalies.total&limit=1'
check "anomalies of ranks" "$(field '.items[0].anomalies.total > 0')" true
problem /live/heatmap '/live/heatmap?what=calls' 404
get /metrics
check "metrics" "$(sed -nE 's/^snag_live_(executions|steps|calls|strange_executions)_total //p' "$body" | paste -sd ' ')" "NaN $calls NaN $strange"
stop

# What is left in a store.
"$sample_store" "$work/store"
serving=(serve "$work/store")
is_past=yes
start
try_all
try /live/records /live/records
check "records" "$(field '[.total, (.items | length)]')" '[24,24]'
try /live/records '/live/records?collection=normalexecs&limit=2&offset=5&order=oldest'
check "a page of normal ones" "$(field '[.total, .offset, (.items | length)]')" '[6,5,1]'
try /live/records '/live/records?rank=3&order=newest&least_ns=40000000'
check "of rank 3" "$(field '[.items[].rank] | unique')" '[3]'
enter=$(field '.items[0].enter_ns')
try /live/records "/live/records?rank=3&enter=$enter"
check "one call" "$(field '[.total, .items[0].enter_ns]')" "[1,$enter]"
id=$(field '.items[0].id')
try '/live/record/{id}' "/live/record/$id"
check "its event" "$(field '.record.event_id == (.lanes[0].calls[] | select(.is_this) | .event_id)')" true
for order in severity score newest oldest longest; do
    try /live/records "/live/records?order=$order&from=0&to=70000000000"
done
get "$api/live/regions?limit=1"
region=$(field '.items[0].region') name=$(field '.items[0].name')
try /live/records "/live/records?region=$region"
check "of a region" "$(field '[.items[].func] | unique')" "[$name]"
problem /live/records '/live/records?order=colour' 400
problem /live/records '/live/records?collection=metadata' 400
problem /live/records '/live/records?region=999' 404
problem /live/records '/live/records?limit=5000' 400
problem '/live/record/{id}' /live/record/99999999 404
"$NONSENSE" "$openapi" "$port" "${REQUESTS:-600}" 3 || failed=1
kill -TERM $server
wait $server || { echo "exit status $? after SIGTERM"; failed=1; }
server=
grep -vE '^snag: warning: serve: ' "$work/errors" && failed=1

# What comes into a store while it is shown, of two writers; until both have ended.
writers=()
for rank in 0 1; do
    "$SNAG" ad 'replay:synth:1000000*step(c@900us(a 3*b));ranks=2;jitter=0.1;slow=b/900/200' --rank $rank --speed 1 --step 0.1 \
        --store "sqlite:$work/written?shards=2" >"$work/writer.$rank" 2>&1 &
    writers+=($!)
done
trap 'kill -9 ${writers[@]} $server 2>/dev/null; rm -rf "$work"' EXIT
until "$SNAG" query "$work/written" 'SELECT count(*) > 5 FROM anomalies' --format csv 2>/dev/null | grep -q 1; do
    kill -0 ${writers[@]} || { cat "$work"/writer.*; exit 1; }
    sleep 0.1
done
serving=(serve "$work/written")
start
get $api/live/status
check "the state of a store that is written" "$(field .state)" '"running"'
valid get /live/status
strange=$(field .anomalies)
wait_for ".anomalies > $strange + 5 and .state == \"running\""
kill -TERM ${writers[0]}
wait ${writers[0]}
strange=$(field .anomalies)
wait_for ".anomalies > $strange + 5 and .state == \"running\""
kill -TERM ${writers[1]}
wait ${writers[1]}
wait_for '.state == "over"'
in_store=$("$SNAG" query "$work/written" 'SELECT sum(NOT is_pruned), sum(is_pruned), (SELECT count(*) FROM normalexecs),
    (SELECT sum(calls) FROM func_stats) FROM anomalies' --format csv | tail -n 1)
check "its totals in the end" "$(field '[.anomalies, .taken_back, .store.stored - .anomalies - .taken_back, .calls]')" "[$in_store]"
check "it is the same run" "$(get $api/live/status; field .run)" 1
stop

# Every live path of the description was asked for here.
for path in $(jq -r '.paths | keys[] | select(startswith("/live/"))' "$openapi"); do
    grep -qF -- "$path" "$0" || { echo "not tested: $path"; failed=1; }
done
exit $failed
