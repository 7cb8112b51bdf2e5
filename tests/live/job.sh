#!/usr/bin/env bash
# The instances of a job and their parameter server, as processes: together they know what one
# instance would that read everything, whoever dies on the way.
#
#   job.sh SNAG LIVE_COMPARE
set -eu
snag=$1 compare=$2
unset ${!SNAG_*}
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
. "$(dirname "$(realpath "$0")")/server.sh"
cd "$work"

trace='synth:1500*step(compute@1ms(a 3*b) c@200us(a));ranks=3;jitter=0.1;slow=c/400/30/1;slow=b/900/20/2'

stop() {
    kill -TERM "$server"
    wait "$server"
}

# job RANKS ARGS...: an instance for each of the ranks, all at once; "-" reads them all.
job() {
    local ranks=$1 instances=() i
    shift
    for i in $ranks; do
        [ "$i" = - ] && i= || i="--rank $i"
        "$snag" ad "$trace" --step 0.05 --ps "$address" $i --json "$@" >"ad$i.json" 2>"ad$i.err" &
        instances+=($!)
        pids+=($!)
    done
    for i in "${instances[@]}"; do wait "$i" || { cat ad*.err; return 1; }; done
}

# snapshot NAME RANKS [SERVER ARGS... -- AD ARGS...]
snapshot() {
    local name=$1 ranks=$2 of_server=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        of_server+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    server --snapshot "$name" --interval 0.05 "${of_server[@]}"
    job "$ranks" "$@"
    stop
}

echo '# three instances, and one that reads everything'
snapshot one.ps -
snapshot three.ps '0 1 2'
"$compare" models one.ps three.ps

echo '# by call path'
snapshot one-path.ps - -- --model-key path
snapshot three-path.ps '0 1 2' -- --model-key path
"$compare" models one-path.ps three-path.ps

echo '# rounds: the same on every run, whoever is first'
snapshot round1.ps '0 1 2' --deterministic 3 -- --deterministic 3
snapshot round2.ps '2 1 0' --deterministic 3 -- --deterministic 3
"$compare" all round1.ps round2.ps
"$compare" models one.ps round1.ps

echo '# frozen: the verdicts of one'
snapshot frozen1.ps - --load one.ps --frozen
snapshot frozen3.ps '0 1 2' --load one.ps --frozen
"$compare" ranks frozen1.ps frozen3.ps
"$compare" models one.ps frozen3.ps
grep -q '"is_frozen": true' 'ad--rank 1.json'
grep -q '"is_shared": true' 'ad--rank 1.json'

echo '# a server that is killed twice: before it has saved anything, and then'
snapshot two.ps '0 1'
snapshot_file() { stat -c %i killed.ps 2>/dev/null || echo none; }
server --snapshot killed.ps --interval 3600 # nobody is done before something is saved
job '0 1' --speed 0.7 --verbose &
whole=$!
for i in 0 1; do
    until grep -q 'the parameter server has answered' "ad--rank $i.err"; do sleep 0.01; done
done
for i in 1 2; do
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
    was=$(snapshot_file)
    server --snapshot killed.ps --interval 0.05 --listen "$address"
    while kill -0 $whole 2>/dev/null && [ "$(snapshot_file)" = "$was" ]; do sleep 0.01; done # and go on to say something
done
wait $whole
stop
"$compare" models two.ps killed.ps
grep -E '"restarts": [12]' 'ad--rank 0.json' # it may see one only: it says everything while the second lives
grep '"is_complete": true' 'ad--rank 1.json'

echo '# an instance that is killed in the middle: the others lose nothing'
server --snapshot survivors.ps --interval 0.05
"$snag" ad 'synth:20000*victim@1ms' --step 0.02 --ps "$address" --speed 1 >/dev/null &
instance=$!
pids+=($instance)
until grep -qas victim survivors.ps; do sleep 0.05; done
kill -9 $instance
wait $instance 2>/dev/null || true
job '0 1'
stop
"$compare" part two.ps survivors.ps
if "$compare" models two.ps survivors.ps; then false; fi # what the other has said is there, too

echo '# nobody there: all is judged, and said not to have arrived'
address=tcp://127.0.0.1:9
status=0
"$snag" ad "$trace" --ps "$address" --connect-timeout 0.2 --json >alone.json 2>alone.err || status=$?
[ $status -eq 3 ]
grep -q '"is_complete": false' alone.json
grep -q '"is_shared": false' alone.json
grep -q "no parameter server has answered at '$address'" alone.err
for rank in 0 1 2; do # whatever there is of a rank
    status=0
    "$snag" ad "$trace" --rank $rank --ps "$address" --connect-timeout 0.1 >/dev/null 2>rank.err || status=$?
    [ $status -eq 3 ] && grep -q "answered at '$address'" rank.err || { cat rank.err; exit 1; }
done
"$snag" ad "$trace" --json >without.json
diff <(grep -E '"(calls|anomalies|unjudged)"' alone.json) <(grep -E '"(calls|anomalies|unjudged)"' without.json)

echo '# counters of a trace arrive as statistics'
cat >counters.json <<'END'
[{"ts":1,"ph":"B","pid":0,"name":"f"},
{"ts":2,"ph":"C","pid":0,"name":"memory","args":{"used":4096}},
{"ts":3,"ph":"E","pid":0}]
END
trace=counters.json
snapshot counters.ps -
grep -qa memory counters.ps

echo '# one store for all: functions have the numbers of the server, and it is shown as one run'
trace='synth:600*step(compute@1ms(a 3*b) c@200us(a));ranks=3;jitter=0.1;slow=c/400/30/1;slow=b/900/20/2'
server
job '0 1 2' --foi step --tree-sigmas 3 --store 'sqlite:shared?shards=2'
stop
"$snag" query shared 'SELECT DISTINCT fid, func FROM anomalies UNION SELECT fid, func FROM func_stats ORDER BY fid' --format csv >functions
[ "$(cut -d, -f 1 functions | sort -u | wc -l)" -eq 6 ] && [ "$(wc -l <functions)" -eq 6 ] || { cat functions; exit 1; }
"$snag" query shared "SELECT count(DISTINCT c.value ->> 'fid') AS fids, count(DISTINCT (c.value ->> 'fid') || (c.value ->> 'func')) AS pairs
    FROM anomalies, json_each(record, '$.event_window.exec_window') AS c" --format csv | tail -n 1 | grep -x '5,5'
"$snag" query shared "SELECT count(DISTINCT rid) AS ranks, min(calls) AS calls FROM anomalies WHERE execution IS NOT NULL" --format csv | tail -n 1 | grep -x '3,8'

echo '# one job of three instances: as many calls in all of them as in the server, its snapshot and the store'
server --snapshot whole.ps --interval 0.05
job '0 1 2' --store whole --run-id whole
"$snag" ps --dump "$address" >dump.json # of the server, after it has published the last
calls=$(($(cat ad--rank*.json | tr -d ' ,"' | sed -n 's/^calls://p' | paste -sd+)))
ask="SELECT (SELECT sum(calls) FROM functions), CAST((SELECT sum(sum) FROM statistics WHERE rank IS NULL AND name = 'calls') AS INTEGER), clients FROM server"
page() { # of the whole job, whoever is asked: URL PATH
    curl -s "$1api/v1/live/$2" | jq -c "$3"
}
server_says() { [ "$(of_server "$1")" = "$2" ]; }
as_long_as "$server" server_says "$ask" "$calls,$calls,3" # it publishes now and then
"$snag" model save "$address" saved.ps
if command -v curl >/dev/null && command -v jq >/dev/null; then
    "$snag" watch whole --server "$address" >both &
    pids+=($!)
    "$snag" watch --server "$address" >server_alone &
    pids+=($!)
    until [ -s both ] && [ -s server_alone ]; do sleep 0.01; done
    for url in both server_alone; do
        url=$(head -n 1 $url)
        [ "$(page "$url" status '[.calls, .ranks]')" = "[$calls,3]" ]
        [ "$(page "$url" 'ranks?by=calls' '[.items[].calls] | add')" = "$calls" ]
        [ "$(page "$url" 'regions?by=calls&limit=100' '[.items[].calls] | add')" = "$calls" ]
    done
    [ "$(page "$(head -n 1 server_alone)" status '[.anomalies, .severity_ns]')" = "[$("$snag" query whole 'SELECT anomalies FROM jobs' --format csv | number),null]" ]
    [ "$(page "$(head -n 1 both)" status '[.state, .anomalies]')" = "[\"over\",$("$snag" query whole 'SELECT anomalies FROM jobs' --format csv | number)]" ]
fi
stop
[ "$("$snag" query whole.ps "$ask" --format csv | number)" = "$calls,$calls,3" ]
[ "$("$snag" query saved.ps "SELECT sum(calls) FROM functions" --format csv | number)" = "$calls" ]
[ "$("$snag" query whole "SELECT count(*), sum(runs), sum(ranks) FROM jobs" --format csv | number)" = 1,3,3 ]
[ "$("$snag" query whole "SELECT sum(calls), sum(calls) = sum(inclusive ->> 'count') FROM func_stats" --format csv | number)" = "$calls,1" ]
[ "$("$snag" query whole "SELECT count(*) = count(DISTINCT func) FROM func_stats" --format csv | number)" = 1 ]
grep -q '"functions": *\[{' dump.json
"$snag" ad "$trace" --step 0.05 --store alone --run-id alone >/dev/null # all ranks by one: the same moments
moments="SELECT func, calls, round(inclusive ->> 'mean', 3), round(inclusive ->> 'stddev', 3) FROM func_stats ORDER BY func"
diff <("$snag" query whole "$moments") <("$snag" query alone "$moments")

command -v curl >/dev/null || exit 0
"$snag" serve shared >served &
pids+=($!)
until [ -s served ]; do sleep 0.01; done
curl -s "$(head -n 1 served)api/v1/live/status" >status.json
grep -o '"ranks":3' status.json
grep -o '"kind":"executions"' status.json
kill "$!" && wait "$!"
