#!/usr/bin/env bash
# /metrics and /healthz of snag ps and snag ad, and the two formats of /metrics everywhere: as many series
# whatever the number of ranks, checked by promtool where there is one.
#
#   metrics.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
unset PBS_JOBID LSB_JOBID
export SLURM_JOB_ID=77

# begin COMMAND [OPTION...]: snag COMMAND with --metrics in the background -> $server, $base, $token, $address
begin() {
    rm -f "$work/said"
    "$SNAG" "$@" --json >"$work/said" 2>"$work/errors" &
    server=$!
    for ((i = 0; i < 600; i++)); do
        url=$(jq -r '.metrics // empty' "$work/said" 2>/dev/null | head -n 1)
        [ -n "$url" ] && break
        kill -0 $server 2>/dev/null || { cat "$work/errors"; echo "snag $1 does not start"; exit 1; }
        sleep 0.05
    done
    address=$(jq -r '.address // empty' "$work/said" | head -n 1)
    port=${url##*:}
    port=${port%%/*}
    base=http://127.0.0.1:$port
    token=${url#*token=}
}

finish() { # STATUS
    local status=0
    kill -TERM $server
    wait $server || status=$?
    server=
    check "exit status after SIGTERM" $status "$1"
}

# until_is COMMAND...: again and again until it is true; a minute is enough for any machine
until_is() {
    for ((i = 0; i < 1200; i++)); do
        kill -0 $server || break
        "$@" && return
        sleep 0.05
    done
    echo "in vain: $*"; cat "$work/errors"
    cat "$body"
    exit 1
}

is_health() { get /healthz; [ "$status" = "$1" ]; }
value() { sed -n "s/^$1\({.*}\)\{0,1\} //p" "$body"; }
is_above() { get /metrics; awk -v x="$(value "$1")" -v least="$2" 'BEGIN { exit !(x > least) }'; }
series() { grep -v '^#' "$body" | sed 's/ # .*//; s/ [^ ]*$//'; }

# linted: what came last is what Prometheus reads; and once more as OpenMetrics, with the same series.
linted() {
    series >"$work/text"
    check "type of $1" "$(header content-type)" 'text/plain; version=0.0.4; charset=utf-8'
    if command -v promtool >/dev/null; then
        promtool check metrics <"$body" || { echo "$1: promtool complains"; failed=1; }
    fi
    get /metrics -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
    check "type of $1, asked for" "$(header content-type)" \
        'application/openmetrics-text; version=1.0.0; charset=utf-8'
    check "last line of $1" "$(tail -n 1 "$body")" '# EOF'
    series | diff "$work/text" - || { echo "$1: other series"; failed=1; }
    # A counter is what its family is called, and _total; a family is there once.
    awk '/^# TYPE / { type[$3] = $4; if (n[$3]++) bad = 1; last = $3 }
         /^[^#]/ { name = $1; sub(/{.*/, "", name)
                   suffix = type[last] == "counter" ? "_total" : type[last] == "info" ? "_info" : ""
                   if (name != last suffix) { print "odd: " $0; bad = 1 } }
         END { exit bad }' "$body" || { echo "$1: names"; failed=1; }
}

# exemplars WHAT: the last strange execution is an example of them, in OpenMetrics alone
exemplars() {
    get /metrics
    check "no exemplar of $1" "$(grep -c ' # ' "$body")" 0
    linted "$1"
    check "exemplar of $1" \
        "$(grep -cE '^snag_live_strange_executions_total [0-9]+ # \{execution="#[01]-[0-9]+"\} 1 [0-9.]+$' "$body")" 1
}

# A parameter server of few ranks, and of many.
mkdir "$work/kept"
begin ps --metrics 0 --interval 0.05 --snapshot "$work/kept/job.ps"
"$SNAG" sim "$address" --ranks 4 --functions 5 --rate 10 --seconds 0.5 >/dev/null
until_is is_above snag_ps_publications_total 0
few=$(value snag_ps_clients) # on a slow machine not all have their turn
[ "$few" -ge 1 ] && [ "$few" -le 4 ] || { echo "$few clients of 4"; failed=1; }
check "functions" "$(value snag_ps_functions)" 5
check "info" "$(series | grep job_info | sed 's/version="[^"]*"/V/')" 'snag_job_info{V,command="ps",job="77",run_id="77"}'
series >"$work/few"
"$SNAG" sim "$address" --ranks 400 --functions 50 --rate 2 --seconds 1 --seed 3 >/dev/null
until_is is_above snag_ps_functions 49
[ "$(value snag_ps_clients)" -gt 40 ] || { echo "$(value snag_ps_clients) clients of 404"; failed=1; }
series | diff "$work/few" - || { echo "ranks make series"; failed=1; }
requests=$(value snag_ps_requests_total)
linted "a parameter server"

# Who may ask, and for what.
get /
check "nothing else" "$status" 404
get /metrics -I
check "HEAD" "$status $(wc -c <"$body")" "200 $(wc -c <"$headers")"
get /metrics --data x
check "POST" "$status $(header allow)" '405 GET, HEAD'
get /metrics -X DELETE
check "DELETE" "$status $(header allow)" '405 GET, HEAD'
get /metrics -H 'Host: example.org'
check "another name" "$status" 421
get /metrics -H 'Origin: http://example.org'
check "another page" "$status" 403
printf 'nonsense\r\n\r\n' >"/dev/tcp/127.0.0.1/$port"
check "well" "$(is_health 200 && cat "$body")" ok

# A snapshot that cannot be written, until it can.
mv "$work/kept" "$work/away"
"$SNAG" sim "$address" --ranks 4 --functions 5 --rate 10 --seconds 0.5 --seed 4 >/dev/null
until_is is_health 503
check "why" "$(jq -r .detail "$body" | grep -c 'job\.ps')" 1
get /metrics
check "failing" "$(value snag_ps_snapshot_failing)" 1
mv "$work/away" "$work/kept"
until_is is_health 200
finish 0
check "requests at the end" "$(tail -n 1 "$work/said" | jq ".requests >= $requests")" true

# One below another.
"$SNAG" ps --snapshot "$work/top.ps" --interval 0.05 >"$work/top" &
top=$!
trap 'kill -9 $top $server 2>/dev/null; rm -rf "$work"' EXIT
while [ ! -s "$work/top" ]; do sleep 0.05; done
begin ps --metrics 127.0.0.1:0 --interval 0.05 --snapshot "$work/leaf.ps" --upstream "$(head -n 1 "$work/top")"
"$SNAG" sim "$address" --ranks 2 --functions 5 --rate 10 --seconds 0.5 >/dev/null
until_is is_above snag_ps_upstream_answers_total 0
series | diff "$work/few" - || { echo "a server below another has other series"; failed=1; }
finish 0
kill -TERM $top
wait $top
trap '[ -z "$server" ] || kill -9 $server 2>/dev/null; rm -rf "$work"' EXIT

# Beyond this machine it takes the token, but to know that it is well.
begin ps --metrics 0.0.0.0:0
get /metrics
check "without the token" "$status" 401
get /metrics -H "Authorization: Bearer $token"
check "a bearer" "$status" 200
get "/metrics?token=$token"
check "in the URL" "$status" 200
get "/metrics?token=${token}0"
check "another token" "$status" 401
until_is is_health 200
finish 0

# snag ad, of few ranks and many.
echo '{"algorithm": "sstd", "sstd_sigma": 1.5}' >"$work/often.json"
for ranks in 3 300; do
    begin ad "synth:$((3000000 / ranks))*step(c@$((ranks * 100))us >1 <1);ranks=$ranks;jitter=0.05;slow=c/10/30" --metrics '[::1]:0' \
        --speed 1 --step 0.02 --algo-file "$work/often.json" --store "$work/store-$ranks"
    base="http://[::1]:$port"
    until_is is_above snag_live_anomalies_total 0
    until_is is_above snag_store_written_rows_total 0
    until_is is_above snag_store_bytes 0
    check "a replay that goes on" "$(value snag_trace_bytes_total) $(value snag_reduction_factor)" "NaN NaN"
    check "open" "$(value snag_stream_open)" 1
    check "lag" "$(value snag_live_lag_seconds | grep -c '^[0-9]')" 1
    check "info of ad" "$(series | grep job_info | sed 's/version="[^"]*"/V/')" \
        'snag_job_info{V,command="ad",program="0",job="77",run_id="77"}'
    series >"$work/series-$ranks"
    linted "ad of $ranks ranks"
    until_is is_health 200
    if [ $ranks = 3 ] && command -v prlimit >/dev/null; then
        child=$(cat /proc/$server/task/$server/children)
        prlimit --pid "$((child))" --fsize=4096:unlimited
        until_is is_health 503
        check "why the store fails" "$(jq -r .detail "$body" | grep -c 'the store cannot be written')" 1
        get /metrics
        check "store failing" "$(value snag_store_failing)" 1
        prlimit --pid "$((child))" --fsize=unlimited:unlimited
        until_is is_health 200
    fi
    finish 3 # calls were open, and rows were lost
done
diff "$work/series-3" "$work/series-300" || { echo "ranks make series"; failed=1; }

begin ad 'synth:100000*step@10ms;ranks=2;jitter=0.05;slow=step/40/20' --metrics 0 --speed 5 --step 0.1 --foi step --run-id r-1
until_is is_above snag_live_strange_executions_total 0
check "run id" "$(series | grep -c 'run_id="r-1"')" 1
exemplars "snag ad"
finish 3 # calls were open

# What the parameter server says of an instance.
begin ps --metrics 0 --interval 0.05
ps=$server ps_base=$base
trap 'kill -9 $ps $server 2>/dev/null; rm -rf "$work"' EXIT
begin ad 'synth:1000000*step(c@100us);ranks=2;jitter=0.05' --metrics 0 --speed 1 --step 0.02 --program 4 --ps "$address"
until_is is_above snag_ps_client_answers_total 0
check "program" "$(series | grep -c 'program="4"')" 1
series | sed 's/{.*//' | diff <(sed 's/{.*//' "$work/series-3") - || { echo "--ps makes series"; failed=1; }
base=$ps_base
until_is is_above snag_ps_clients 0
kill -TERM $server
wait $server
server=$ps
finish 0
trap '[ -z "$server" ] || kill -9 $server 2>/dev/null; rm -rf "$work"' EXIT

# Those that have pages: the same two formats.
start
get /metrics
check "info of serve" "$(series | grep -c 'command="serve",job="77"')" 1
linted "snag serve"
stop
serving=(watch 'synth:1000000*step(c@100us);ranks=2;jitter=0.05' --speed 1 --step 0.02 --store none)
start
until_is is_above snag_live_events_total 0
check "info of watch" "$(series | grep -c 'command="watch",job="77"')" 1
linted "snag watch"
stop
# The last strange execution is an example there, too, and of a store that was written before.
serving=(watch 'synth:100000*step@10ms;ranks=2;jitter=0.05;slow=step/40/20' --speed 5 --step 0.1 --foi step --store "$work/strange")
start
until_is is_above snag_live_strange_executions_total 0
until_is is_above snag_store_written_rows_total 0
exemplars "watch"
stop
serving=(serve "$work/strange")
start
until_is is_above snag_live_strange_executions_total 0
exemplars "serve, of a store"
stop

# How much is left of a trace: what it and the store have in files, and what provdb says of that.
jq -n '[range(4000) | {name: "f", ph: "X", ts: (. * 100), dur: (if . % 397 == 396 then 90 else 10 end), pid: 0, tid: 0}]' >"$work/trace.json"
"$SNAG" ad "$work/trace.json" --store "$work/less" --quiet >/dev/null
serving=(serve "$work/less")
start
get /api/v1/live/status
check "reduction, the page" "$(jq -c .reduction "$body")" "$("$SNAG" provdb reduction "$work/less" --json | jq -c .)"
check "trace bytes" "$(jq -c .reduction.trace_bytes "$body")" "$(wc -c <"$work/trace.json")"
check "stored bytes" "$(jq -c .reduction.stored_bytes "$body")" "$(cat "$work"/less/shard-*.db | wc -c)"
is_near() { get /metrics; awk -v x="$(value "$1")" -v y="$2" 'BEGIN { exit !(x / y > 0.999999 && x / y < 1.000001) }'; }
until_is is_near snag_reduction_factor "$(jq -c .reduction.reduction "$body")"
stop
exit $failed
