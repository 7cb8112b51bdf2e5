#!/usr/bin/env bash
# Commands on a store in PostgreSQL whose role has a password: what they write and read is as with a
# directory, the password stands nowhere, and who does not know it gets one clear line.
#
#   server.sh with store.sh SNAG
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
snag=$1
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
broken() {
    echo "$*"
    exit 1
}

secret=Zx81qhidden
psql -q -c "CREATE ROLE judge LOGIN PASSWORD '$secret'" -c 'CREATE DATABASE traces OWNER judge'
printf 'local all judge scram-sha-256\nlocal all all trust\n' >"$SNAG_POSTGRES/data/pg_hba.conf"
psql -qAt -c 'SELECT pg_reload_conf()' >reloaded
url=postgresql://judge@/traces
program='synth:3000*step(solve@1ms send);jitter=0.1;slow=solve/97/5'

# nobody told it the password
until ! "$snag" ad "replay:$program" --store "$url" 2>refused; do sleep 0.1; done
[ "$(wc -l <refused)" -eq 1 ] || broken "not one line: $(cat refused)"
grep -q 'snag: cannot reach the database: .*password' refused || broken "not clear: $(cat refused)"
! "$snag" ad "replay:$program" --store "postgresql://judge:$secret@/traces" >in_url 2>&1 ||
    broken 'a password in the URL was taken'
! PGPASSWORD=wrong "$snag" provdb top "$url" >wrong 2>&1 || broken 'a wrong password was taken'
[ "$(wc -l <wrong)" -eq 1 ] || broken "not one line: $(cat wrong)"

# as with a directory
printf '*:*:*:judge:%s\n' "$secret" >pgpass
chmod 600 pgpass
export PGPASSFILE=$work/pgpass
"$snag" ad "replay:$program" --run-id job-7 --store here >out_here 2>&1
"$snag" ad "replay:$program" --run-id job-7 --store "$url" --verbose >out 2>&1
[ ! -e snag-spool ] || broken 'the spool stays'
timeless() { sed -E 's/"stored_utc": ?"20[0-9T:.-]+Z"/"stored_utc":"then"/g'; } # each its own
for question in 'provdb top STORE --by cost' 'provdb top STORE --incidents' 'export STORE --format json' \
    'export STORE --what normalexecs' 'provdb filter STORE rid=0'; do
    # shellcheck disable=SC2086 # words
    "$snag" ${question/STORE/here} | timeless >expected
    # shellcheck disable=SC2086
    "$snag" ${question/STORE/$url} 2>>errors | timeless >answer
    cmp expected answer || broken "$question"
    [ -s answer ] || broken "nothing: $question"
done

grep -q '"run_id": *"job-7".*"stored_utc":"then"' answer || broken "no run id, or time: $(head -c 300 answer)"

# how much less is stored than was read: of this run of the database, what was sent
jq -n '[range(4000) | {name: "f", ph: "X", ts: (. * 100), dur: (if . % 397 == 396 then 90 else 10 end), pid: 0, tid: 0}]' >trace.json
createdb -O judge reduced
"$snag" ad trace.json --store postgresql://judge@/reduced --json --quiet >said
jq -e --argjson bytes "$(wc -c <trace.json)" '.trace_bytes == $bytes and .stored_is == "sent" and
    .stored_bytes > 1000 and .reduction > 0' said >/dev/null || broken "reduction: $(cat said)"
"$snag" provdb reduction postgresql://judge@/reduced --json >answer
jq -e -s '.[0].trace_bytes == .[1].trace_bytes and .[1].stored_is == "sent" and .[1].stored_bytes > 1000 and
    .[0].stored_bytes >= .[1].stored_bytes and .[0].stored_bytes < .[1].stored_bytes + 2000' said answer >/dev/null ||
    broken "provdb reduction: $(cat said answer)"

# only what is in a backup goes, and the backup answers as the database did
"$snag" export "$url" --format json | timeless >expected
! "$snag" provdb prune "$url" --keep-days 0 >kept 2>&1 || broken 'dropped without a backup'
grep -q 'but no backup holds all of it' kept || broken "not clear: $(cat kept)"
"$snag" provdb backup "$url" copy --json >copied
jq -e '.runs == 1 and .open_runs == 0 and .bytes > 0' copied >/dev/null || broken "backup: $(cat copied)"
"$snag" export copy --format json | timeless >answer
cmp expected answer || broken 'a backup that is not as the database'
"$snag" provdb prune "$url#1" --keep-days 1 --json >kept
jq -e '.dropped_runs == 0 and .kept_runs == 0' kept >/dev/null || broken "prune: $(cat kept)"

# a run that is strange all the time has no more there than was said, and says what went
"$snag" ad 'replay:synth:60000*step(a@100us);jitter=0.3' --step 0.2 --least 1ns --false-alarms 100000 --store "$url" \
    --store-limit 1 --json >bounded 2>said
grep -q 'reached its limit' said || broken "it does not say that there is a limit: $(cat said)"
read -r there bytes < <(psql -qAt -F ' ' -d traces -c "SELECT count(*), sum(octet_length(data) + 450) FROM snag.record WHERE run = 2")
[ "$bytes" -le 1048576 ] && [ "$bytes" -gt 500000 ] || broken "a limit of 1 MiB, and $bytes bytes"
jq -se --argjson there "$there" '.[-1] | .removed > 1000 and .stored_anomalies + .stored_normals - .removed == $there' bounded \
    >/dev/null || broken "$there records there, and said: $(tail -n 1 bounded)"
"$snag" provdb top "$url#2" >answer

# where --spool says, and not elsewhere
touch file
! "$snag" ad "replay:$program" --store "$url" --spool file >spool 2>&1 || broken 'a file was taken for a spool'
grep -q "'file" spool || broken "not clear: $(cat spool)"

# a page of it
touch address
"$snag" serve "$url#1" --port 0 >address 2>serve.log &
server=$!
until grep -q http address; do
    kill -0 "$server" || broken "$(cat serve.log)"
    sleep 0.1
done
page=$(grep -o 'http[^ ]*' address | head -n 1)
curl -sS "${page%%\?*}api/v1/live/records?limit=5&${page#*\?}" >records
jq -e '.total == 30 and (.items | length) == 5' records >/dev/null || broken "records: $(head -c 300 records)"
curl -sS "${page%%\?*}api/v1/live/status?${page#*\?}" >status
tr '\0' ' ' <"/proc/$server/cmdline" >cmdline

# of a run that goes on, until it ends
"$snag" ad 'replay:synth:1000000*step(solve@1ms send);jitter=0.1;slow=solve/97/5' --speed 1 --step 0.2 --store "$url" >goes 2>&1 &
writer=$!
trap 'kill $server $writer 2>/dev/null || true; rm -rf "$work"' EXIT
run=
until run=$(psql -qAt -d traces -c 'SELECT max(run) FROM snag.record WHERE run > 2') && [ -n "$run" ]; do
    kill -0 $writer || broken "$(cat goes)"
    sleep 0.1
done
touch address2
"$snag" serve "$url#$run" --port 0 >address2 2>serve2.log &
other=$!
trap 'kill $server $writer $other 2>/dev/null || true; rm -rf "$work"' EXIT
until grep -q http address2; do
    kill -0 $other || broken "$(cat serve2.log)"
    sleep 0.1
done
page2=$(grep -o 'http[^ ]*' address2 | head -n 1)
state() { curl -sS "${page2%%\?*}api/v1/live/status?${page2#*\?}" | jq -c '[.state, .anomalies]'; }
until [[ $(state) == '["running",'?*?']' ]]; do sleep 0.2; done # ten at least
kill $writer
wait $writer || [ $? = 3 ] || broken "$(cat goes)" # calls were open
there=$(psql -qAt -d traces -c "SELECT count(*) FROM snag.record WHERE run = $run AND is_normal = 0 AND is_pruned IS DISTINCT FROM 1")
until [ "$(state)" = "[\"over\",$there]" ]; do sleep 0.2; done
kill $other
wait $other || true

# which is not healthy while the database is away
health() { curl -sS -o health -w '%{http_code}' "${page%%\?*}healthz"; }
[ "$(health)" = 200 ] || broken "health: $(cat health)"
bash "$here/server.sh" stop "$SNAG_POSTGRES"
[ "$(health)" = 503 ] || broken "health without a database: $(cat health)"
bash "$here/server.sh" start "$SNAG_POSTGRES"
[ "$(health)" = 200 ] || broken "health with it again: $(cat health)"
kill "$server"
wait "$server" || true
server=

rm pgpass
! grep -rl "$secret" . || broken 'the password stands there'
