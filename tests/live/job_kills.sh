#!/usr/bin/env bash
# A job of eight instances, one of which is killed and started again, and its page, which is
# killed, too; and one whose store has no room for a while. What is counted agrees, or what is
# missing is said.
#
#   job_kills.sh SNAG
set -eu
snag=$1
unset ${!SNAG_*}
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
. "$(dirname "$(realpath "$0")")/server.sh"
cd "$work"

number() { tail -n 1 | tr -d ' '; }
of_store() { "$snag" query "$1" "$2" --format csv | number; }
json() { tr -d ' ,"' <"$1" | sed -n "s/^$2://p" | head -n 1 | sed 's/^null$/0/'; }

page() { # starts one of the job: $url, $page
    rm -f shown
    "$snag" watch "$1" --server "$address" >shown 2>/dev/null &
    page=$!
    pids+=("$page")
    until [ -s shown ]; do sleep 0.01; done
    url=$(head -n 1 shown)
}

end() { # the process of this id, by a signal
    kill "-$1" "$2"
    wait "$2" 2>/dev/null || true
}

has_page=$(command -v curl >/dev/null && command -v jq >/dev/null && echo yes || true)
shows() { curl -s "${url}api/v1/live/$1" | jq -c "$2"; }

echo '# eight instances, of which one is killed and started again'
trace='synth:900*step(compute@1ms(a 3*b) >1 <1);ranks=8;jitter=0.1;slow=compute/100/20/2;slow=compute/1/1.3/5' # rank 5 always takes longer
server --snapshot eight.ps --interval 0.05
instance() { # RANK ARGS...
    local rank=$1
    shift
    "$snag" ad "$trace" --step 0.05 --rank "$rank" --ps "$address" --store eight --run-id eight --json "$@" >"ad$rank.json" 2>"ad$rank.err" &
    pids+=($!)
}
instance 3 --speed 0.05
victim=$!
told="SELECT coalesce(CAST(sum(sum) AS INTEGER), 0) FROM statistics WHERE rank = 3 AND name = 'calls'"
until [ "$(of_store "$address" "$told")" -gt 0 ]; do sleep 0.05; done
end 9 $victim
[ -z "$has_page" ] || page eight
instances=()
for rank in 0 1 2 3 4 5 6 7; do
    instance $rank
    instances+=($!)
done
if [ -n "$has_page" ]; then # the page dies in the middle
    end 9 "$page"
    page eight
fi
for i in "${instances[@]}"; do wait "$i" || { cat ad*.err; exit 1; }; done
each=$(json ad0.json calls)
whole=$((8 * each))
of_server="SELECT sum(calls) FROM functions"
of_stats="SELECT sum(calls) FROM func_stats"
until [ "$(of_store "$address" "SELECT CAST(sum(sum) AS INTEGER) FROM statistics WHERE rank IS NOT NULL AND name = 'calls'")" = "$(of_store "$address" "$of_server")" ]; do sleep 0.05; done
until [ "$(of_store "$address" "$of_server")" -ge "$whole" ]; do sleep 0.05; done

# All but what the killed one had read is there to the unit, on either side.
of_dead=$(($(of_store "$address" "$told") - each))
[ "$of_dead" -gt 0 ] && [ "$(of_store "$address" "$of_server")" -eq $((whole + of_dead)) ]
stored_of_dead=$(of_store eight "SELECT coalesce(sum(calls), 0) FROM func_stats_of_runs JOIN runs USING (run) WHERE ended IS NULL")
[ "$(of_store eight "$of_stats")" -eq $((whole + stored_of_dead)) ]
[ "$stored_of_dead" -le "$of_dead" ] # statistics are stored about once a second
[ "$(of_store eight 'SELECT sum(runs) || sum(ranks) || count(ended) FROM jobs')" = 980 ] # nine runs of eight ranks, of which one did not end
[ "$(of_store eight 'SELECT count(*) FROM runs WHERE ended IS NULL AND rid = 3')" = 1 ]

if [ -n "$has_page" ]; then
    echo '# the page of the job, before and after it is killed'
    until [ "$(shows status '[.state, .server_calls, .store.calls]')" = "[\"over\",$((whole + of_dead)),$((whole + stored_of_dead))]" ]; do sleep 0.05; done
    what='del(.version, .up_ns, .events_per_s)'
    for part in status 'ranks?limit=100' 'regions?limit=100' slow 'records?limit=100'; do shows "$part" "$what"; done >before
    end 9 "$page"
    page eight
    for part in status 'ranks?limit=100' 'regions?limit=100' slow 'records?limit=100'; do shows "$part" "$what"; done >after
    diff before after
    [ "$(shows status '[.calls, .ranks]')" = "[$((whole + of_dead)),8]" ]
    [ "$(shows slow '[.compared, .not_known]')" = '[8,null]' ]
    [ "$(shows slow '[.items[] | select(.rank == 5) | .verdict, .functions[0].short_name, (.functions[0].factor * 10 | round)]')" = '["slow","compute",13]' ]
    [ "$(shows slow '[.items[] | select(.verdict == "slow") | .rank] - [2, 5]')" = '[]' ]
    [ "$(shows status .anomalies)" = "$(of_store eight 'SELECT sum(anomalies) FROM jobs')" ]
fi
end TERM "$server"

command -v prlimit >/dev/null || exit 0
echo '# a store that has no room for a while: what was lost is said, the rest is there'
trace='synth:400000*step(c@200us >1 <1);ranks=2;jitter=0.05;slow=c/20/30'
server
small() { # RANK: files of it may not grow beyond 400 KiB
    ulimit -S -f 400
    trap '' XFSZ
    exec "$snag" ad "$trace" --step 0.1 --speed 2 --call-detector sstd --rank "$1" --ps "$address" --store 'sqlite:full?shards=2' --run-id full --json >"full$1.json" 2>"full$1.err"
}
for rank in 0 1; do
    (small $rank) &
    full[rank]=$!
    pids+=($!)
done
for rank in 0 1; do
    until grep -q 'cannot' "full$rank.err"; do sleep 0.05; done
done
for rank in 0 1; do # also its child, which reads
    for pid in ${full[rank]} $(cat "/proc/${full[rank]}/task/${full[rank]}/children"); do prlimit --pid "$pid" --fsize=unlimited:unlimited; done
done
for rank in 0 1; do
    until grep -q 'again' "full$rank.err"; do sleep 0.05; done
done
kill -TERM "${full[@]}"
for rank in 0 1; do
    status=0
    wait "${full[rank]}" || status=$?
    [ $status -eq 3 ] || { cat "full$rank.err"; exit 1; } # calls were open when it was told to end
    # Each record that was made is stored, as it could wait, or dropped and counted.
    made=$(($(json "full$rank.json" anomalies) + $(json "full$rank.json" taken_back)))
    [ $(($(json "full$rank.json" stored_anomalies) + $(json "full$rank.json" dropped))) -ge "$made" ]
    [ "$(of_store full "SELECT count(*) FROM anomalies WHERE rid = $rank")" = "$(json "full$rank.json" stored_anomalies)" ]
done
calls=$(($(json full0.json calls) + $(json full1.json calls)))
open=$((calls - $(of_store full "$of_stats"))) # those that were open in the end are in no statistics
until [ "$(of_store "$address" "$of_server")" = "$(of_store full "$of_stats")" ]; do sleep 0.05; done
[ "$open" -ge 0 ] && [ "$open" -le 8 ] || { echo "$open calls more than the statistics have"; exit 1; }
end TERM "$server"
