#!/usr/bin/env bash
# A job of many instances, one for each rank, and all that may happen to it: an instance, the
# parameter server and the page are killed and started again, and the store has no room for a
# while. What is counted is the same to the unit in instances, server, store, page and metrics,
# but for the instance that was killed, where what is missing is known.
#
#   job_kills.sh SNAG INSTANCES
set -eu
snag=$1 n=$2
unset ${!SNAG_*}
for tool in curl jq prlimit; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not here"; exit 77; }
done
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
. "$(dirname "$(realpath "$0")")/server.sh"
cd "$work"

trace="synth:900*step(compute@1ms(a 3*b) >1 <1);ranks=$n;jitter=0.1;slow=compute/100/20/2;slow=compute/1/1.3/5" # rank 5 always takes longer
speed=$(awk "BEGIN { print 0.3 / ($n + 4) }") # 1.3 s of trace in some 54 s with 8, and in some 300 s with 64: twice what all of this needs beside a load of ten
of_store() { "$snag" query job "$1" --format csv | number; }
shows() { curl -s "${url}api/v1/live/$1" | jq -c "$2"; }
status_is() { [ "$(shows status "$1")" = "$2" ]; }

# same WHAT GOT WANT
same() { [ "$2" = "$3" ] || { echo "$1: $2, but should be $3"; exit 1; }; }

instance() { # RANK ARGS...
    local rank=$1
    shift
    "$snag" ad "$trace" --step 0.05 --rank "$rank" --ps "$address" --store 'sqlite:job?shards=2' --run-id job --json "$@" >"ad$rank.json" 2>"ad$rank.err" &
    instance=$!
    pids+=($!)
}

page() { # starts one of the job: $url, $page
    rm -f shown
    "$snag" watch job --server "$address" >shown 2>/dev/null &
    page=$!
    pids+=("$page")
    as_long_as "$page" test -s shown
    url=$(head -n 1 shown)
}

end() { # SIGNAL PID
    kill "-$1" "$2"
    wait "$2" 2>/dev/null || true
}

# all_say TEXT: until each instance has said so, as long as it goes on
all_say() {
    local rank
    for ((rank = 0; rank < n; rank++)); do
        as_long_as "${instances[rank]}" grep -q "$1" "ad$rank.err"
    done
}

may_write() { # BYTES: so long may files of the instances be, those of the children that read, too
    local i pid
    for i in "${instances[@]}"; do
        for pid in "$i" $(cat "/proc/$i/task/$i/children"); do prlimit --pid "$pid" --fsize="$1:unlimited"; done
    done
}

echo "# of $n instances one is killed"
server --snapshot server.ps --interval 0.05
of_rank_3="SELECT coalesce(CAST(sum(sum) AS INTEGER), 0) FROM statistics WHERE rank = 3 AND name = 'calls'"
instance 3 --speed $speed
as_long_as "$instance" server_has "$of_rank_3" -gt 0
end 9 "$instance"
of_dead=$(of_server "$of_rank_3")

echo '# all begin, it too; server and page are killed while they are at it'
page
for ((rank = 0; rank < n; rank++)); do
    instance $rank --speed $speed
    instances[rank]=$instance
done
of_ranks="SELECT count(DISTINCT rank) FROM statistics WHERE rank IS NOT NULL AND name = 'calls'"
as_long_as "$server" server_has "$of_ranks" -eq "$n"
end 9 "$server"
server --snapshot server.ps --interval 0.05 --listen "$address"
end 9 "$page"
page

echo '# the store has no room for a while'
may_write 16384 # enough for what they say on stderr
all_say 'cannot'
may_write unlimited
all_say 'again'
n_clients=$(of_server 'SELECT clients FROM server')
[ "$n_clients" -le $((n + 1)) ] || { echo "$n_clients clients of $n instances, and one that was killed"; exit 1; }

# All at once: where process ids are few, bash forgets a status when one of its own commands gets the id again.
for ((rank = 0; rank < n; rank++)); do
    statuses[rank]=0
    wait "${instances[rank]}" || statuses[rank]=$?
done
whole=0
for ((rank = 0; rank < n; rank++)); do
    dropped=$(json "ad$rank.json" dropped)
    same "status of rank $rank" ${statuses[rank]} $([ "$dropped" -gt 0 ] && echo 3 || echo 0)
    whole=$((whole + $(json "ad$rank.json" calls)))
    # Each record that was made is stored, as it could wait, or dropped and counted.
    made=$(($(json "ad$rank.json" anomalies) + $(json "ad$rank.json" taken_back)))
    stored=$(json "ad$rank.json" stored_anomalies)
    [ $((stored + dropped)) -ge "$made" ] || { echo "rank $rank: $made records, $stored stored, $dropped dropped"; exit 1; }
    records=$((${records:-0} + stored))
done
same 'calls of all ranks' $whole $((n * $(json ad0.json calls)))

echo '# instances, server, store'
calls_of_server='SELECT sum(calls) FROM functions'
as_long_as "$server" server_has "$calls_of_server" -ge $((whole + of_dead))
same 'calls in the server' "$(of_server "$calls_of_server")" $((whole + of_dead))
same 'and by rank' "$(of_server "SELECT CAST(sum(sum) AS INTEGER) FROM statistics WHERE rank IS NOT NULL AND name = 'calls'")" $((whole + of_dead))
stored_of_dead=$(of_store "SELECT coalesce(sum(calls), 0) FROM func_stats_of_runs JOIN runs USING (run) WHERE ended IS NULL")
[ "$of_dead" -gt 0 ] && [ "$stored_of_dead" -le "$of_dead" ] # statistics are stored about once a second
same 'calls in the store' "$(of_store 'SELECT sum(calls) FROM func_stats')" $((whole + stored_of_dead))
same 'runs, ranks, and jobs that ended' "$(of_store 'SELECT sum(runs), sum(ranks), count(ended) FROM jobs')" "$((n + 1)),$n,0"
same 'runs that did not end' "$(of_store 'SELECT count(*), sum(rid) FROM runs WHERE ended IS NULL')" 1,3
same 'records in the store' "$(of_store 'SELECT count(*) FROM anomalies JOIN runs USING (run) WHERE ended IS NOT NULL')" "$records"

echo '# page and metrics, before and after the page is killed once more'
as_long_as "$page" status_is '[.state, .server_calls, .store.calls]' "[\"over\",$((whole + of_dead)),$((whole + stored_of_dead))]"
what='del(.version, .up_ns, .events_per_s)'
for part in status "ranks?limit=$n" 'regions?limit=100' slow 'records?limit=100'; do shows "$part" "$what"; done >before
end 9 "$page"
page
as_long_as "$page" status_is .state '"over"'
for part in status "ranks?limit=$n" 'regions?limit=100' slow 'records?limit=100'; do shows "$part" "$what"; done >after
diff before after
same 'calls and ranks of the page' "$(shows status '[.calls, .ranks]')" "[$((whole + of_dead)),$n]"
same 'anomalies of the page' "$(shows status .anomalies)" "$(of_store 'SELECT sum(anomalies) FROM jobs')"
same 'calls in the metrics of the page' "$(curl -s "${url}metrics" | sed -n 's/^snag_live_calls_total //p')" $((whole + of_dead))
same 'ranks that are compared' "$(shows slow '[.compared, .not_known]')" "[$n,null]"
same 'who is slow' "$(shows slow '[.items[] | select(.rank == 5) | .verdict, .functions[0].short_name, (.functions[0].factor * 10 | round)]')" '["slow","compute",13]'
same 'others that are slow' "$(shows slow '[.items[] | select(.verdict == "slow") | .rank] - [2, 5]')" '[]'
end TERM "$server"
