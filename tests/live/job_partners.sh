#!/usr/bin/env bash
# Instances of a job tell each other what their ranks did: what a record says of its partners is
# what one instance says that reads all ranks, and who does not answer holds up nobody.
#
#   job_partners.sh SNAG
set -eu
snag=$1
unset ${!SNAG_*}
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
. "$(dirname "$(realpath "$0")")/server.sh"
cd "$work"

# Rank 2 is slow now and then; rank 3, which receives from it, waits, and so on around.
trace='synth:600*step(compute@1ms(a 3*b) >1 <1);ranks=4;jitter=0.1;slow=compute/60/20/2;slow=b/250/80/1'

stop() {
    kill -TERM "$server"
    wait "$server"
}

# job STORE RANKS ARGS...: an instance for each of the ranks, all at once; "-" reads them all.
job() {
    local store=$1 ranks=$2 instances=() i of
    shift 2
    for i in $ranks; do
        of=()
        [ "$i" = - ] || of=(--rank "$i")
        "$snag" ad "$trace" --step 0.05 --ps "$address" "${of[@]}" --store "$store" --json "$@" >"$store-$i.json" 2>"$store-$i.err" &
        instances+=($!)
        pids+=($!)
    done
    for i in "${instances[@]}"; do wait "$i" || { cat "$store"-*.err; return 1; }; done
}

has_clients() { "$snag" ps --dump "$address" 2>/dev/null | grep -q "\"clients\": $1}"; }

# until_clients N PID: while the process goes on, which is to be one of them.
until_clients() {
    as_long_as "$2" has_clients "$1"
}

# partners STORE: a line for each partner of each record that is known, with all of its window.
partners() {
    "$snag" query "$1" "SELECT event_id || ' ' || coalesce(execution, '') || ' ' || (p.value ->> 'rid') AS who, p.value ->> 'tid' AS thread,
        (SELECT group_concat(json_remove(c.value, '\$.fid'), '; ') FROM json_each(p.value, '\$.event_window.exec_window') AS c) AS calls,
        p.value ->> '\$.event_window.comm_window' AS messages
        FROM anomalies, json_each(record, '\$.partners') AS p WHERE p.value ->> 'not_known' IS NULL ORDER BY 1" --format csv | tail -n +2
}

# counts STORE: of all its instances: asked, answered, declined, given up.
counts() {
    cat "$1"-*.json | tr -d ' ,"' | awk -F: '$1 ~ /^(asked|answered|declined|given_up)$/ { n[$1] += $2 }
        END { print n["asked"] + 0, n["answered"] + 0, n["declined"] + 0, n["given_up"] + 0 }'
}

echo '# four instances, and one that reads everything: what both know is the same'
server --deterministic 1
job one - --deterministic 1 --run-id one
stop
server --deterministic 4
job four '0 1 2 3' --deterministic 4 --run-id four
stop
[ "$("$snag" query one 'SELECT count(*) FROM anomalies' --format csv | number)" = "$("$snag" query four 'SELECT count(*) FROM anomalies' --format csv | number)" ]
partners one >one.txt
partners four >four.txt
cut -d, -f 1 one.txt | sort >one.who
cut -d, -f 1 four.txt | sort >four.who
[ "$(comm -13 one.who four.who | wc -l)" -eq 0 ] # nothing that the one does not know
comm -12 one.who four.who >both.who
[ "$(wc -l <both.who)" -gt 20 ] || { wc -l *.who; exit 1; }
diff <(grep -F -f both.who one.txt) <(grep -F -f both.who four.txt)
read -r asked answered declined given_up <<<"$(counts four)"
[ "$asked" -gt 20 ] && [ "$answered" -eq "$asked" ] && [ "$declined" -eq 0 ] && [ "$given_up" -eq 0 ] || { counts four; exit 1; }
[ "$(wc -l <four.txt)" -eq "$answered" ]
[ "$(counts one)" = '0 0 0 0' ] # it has all ranks itself

echo '# without rounds, each as fast as it can: all that is asked is answered'
# An instance with nothing to ask ends, unless others of its job go on: a fifth does, until the four have begun.
server
"$snag" ad 'synth:60000*step(held@1ms);ranks=5' --step 0.05 --ps "$address" --rank 4 --store fifth --run-id free --speed 1 >/dev/null 2>&1 &
fifth=$!
pids+=($fifth)
until_clients 1 $fifth
job free '3 1 0 2' --run-id free &
four=$!
until_clients 5 $four
kill -TERM $fifth
wait $four
wait $fifth || [ $? -eq 3 ] # its last calls had not ended
stop
read -r asked answered declined given_up <<<"$(counts free)"
[ "$asked" -gt 0 ] && [ "$answered" -eq "$asked" ] || { counts free; exit 1; }

echo '# instances that are of no job, or of another one, are not asked, or not found'
server
job none '0 1 2 3'
[ "$(counts none)" = '0 0 0 0' ]
job apart '3' --run-id apart &
apart=$!
pids+=($apart)
job beside '2' --run-id beside
wait $apart
stop
read -r asked answered declined given_up <<<"$(counts apart)"
[ "$asked" -gt 0 ] && [ "$given_up" -eq "$asked" ] || { counts apart; exit 1; }
"$snag" query apart "SELECT DISTINCT p.value ->> 'not_known' FROM anomalies, json_each(record, '\$.partners') AS p" --format csv | tail -n +2 |
    diff - <(echo 'no instance of the job had said that it reads this rank')

echo '# one that is killed: the others go on, and say what they do not know'
server
"$snag" ad "$trace" --step 0.05 --ps "$address" --rank 2 --store killed --run-id killed --speed 0.05 >/dev/null 2>&1 &
victim=$!
pids+=($victim)
until_clients 1 $victim
kill -9 $victim
wait $victim 2>/dev/null || true
job killed '0 1 3' --run-id killed
stop
read -r asked answered declined given_up <<<"$(counts killed)"
[ "$given_up" -gt 0 ] && [ $((answered + declined + given_up)) -eq "$asked" ] || { counts killed; exit 1; }
[ "$("$snag" query killed "SELECT count(*) FROM anomalies, json_each(record, '\$.partners') AS p WHERE p.value ->> 'rid' = 2 AND p.value ->> 'not_known' IS NULL" --format csv | number)" = 0 ]
[ "$("$snag" query killed "SELECT count(*) FROM anomalies, json_each(record, '\$.partners') AS p WHERE p.value ->> 'not_known' IS NOT NULL" --format csv | number)" = $((declined + given_up)) ]
