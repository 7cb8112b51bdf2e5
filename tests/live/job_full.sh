#!/usr/bin/env bash
# A job of two instances whose store has no room for a while, and which are told to end: what was
# lost is said, the rest is there.
#
#   job_full.sh SNAG
set -eu
snag=$1
unset ${!SNAG_*}
command -v prlimit >/dev/null || { echo 'skipped: prlimit is not here'; exit 77; }
work=$(mktemp -d)
pids=()
trap '[ $? -eq 0 ] || tail -n 5 full?.err full?.json; kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
. "$(dirname "$(realpath "$0")")/server.sh"
cd "$work"

of_store() { "$snag" query full "$1" --format csv | number; }

of_functions="SELECT sum(calls) FROM functions"
of_stats="SELECT sum(calls) FROM func_stats"
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
    as_long_as "${full[rank]}" grep -q 'cannot' "full$rank.err"
done
for rank in 0 1; do # also its child, which reads
    for pid in ${full[rank]} $(cat "/proc/${full[rank]}/task/${full[rank]}/children"); do prlimit --pid "$pid" --fsize=unlimited:unlimited; done
done
for rank in 0 1; do
    as_long_as "${full[rank]}" grep -q 'again' "full$rank.err"
done
kill -TERM "${full[@]}"
for rank in 0 1; do
    status=0
    wait "${full[rank]}" || status=$?
    [ $status -eq 3 ] || { cat "full$rank.err"; exit 1; } # calls were open when it was told to end
    # Each record that was made is stored, as it could wait, or dropped and counted.
    made=$(($(json "full$rank.json" anomalies) + $(json "full$rank.json" taken_back)))
    [ $(($(json "full$rank.json" stored_anomalies) + $(json "full$rank.json" dropped))) -ge "$made" ]
    [ "$(of_store "SELECT count(*) FROM anomalies WHERE rid = $rank")" = "$(json "full$rank.json" stored_anomalies)" ]
done
calls=$(($(json full0.json calls) + $(json full1.json calls)))
stored=$(of_store "$of_stats")
open=$((calls - stored)) # those that were open in the end are in no statistics
as_long_as "$server" server_has "$of_functions" -eq "$stored"
[ "$open" -ge 0 ] && [ "$open" -le 8 ] || { echo "$open calls more than the statistics have"; exit 1; }
kill -TERM "$server"
wait "$server"
