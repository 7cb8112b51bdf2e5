#!/usr/bin/env bash
# Commands on a history in PostgreSQL: what they print is as of a file.
#
#   server.sh with history.sh SNAG
set -euo pipefail
snag=$1
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
broken() {
    echo "$*"
    exit 1
}

psql -q -c 'CREATE DATABASE nightly'
url=postgresql:///nightly
for i in 1 2 3 4 5 6; do
    "$snag" analyze "synth:60*main2(step(solve@$((i > 4 ? 2 : 1))ms send));jitter=0.05;seed=$i" --foi step \
        -o "r$i.snag" --quiet >analysed 2>&1
done
for history in here.db "$url#history"; do
    for i in 1 2 3 4 5; do "$snag" history add "$history" "r$i.snag" --tag "seed=$i" >>added; done
    ! "$snag" history add "$history" r2.snag >>added 2>&1 || broken 'a run was added twice'
done

# the same but for its name and the minute
plain() { sed -E "s|$url(#history)?|here.db|g; s/20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ]?[0-9:]*Z?/then/g; s/(\"added_s\": )[0-9]+/\1then/"; }
while read -r question; do
    # shellcheck disable=SC2086 # words
    "$snag" ${question/HISTORY/here.db} 2>&1 | plain >expected || true
    # shellcheck disable=SC2086
    "$snag" ${question/HISTORY/$url} 2>&1 | plain >answer || true
    cmp expected answer || broken "$question: $(diff expected answer | head -n 5)"
    [ -s answer ] || broken "nothing: $question"
done <<'QUESTIONS'
history list HISTORY
history list HISTORY --json --tag seed=3
history show HISTORY
history show HISTORY --format csv --all
compare --base HISTORY --last 4 r6.snag
compare HISTORY
history prune HISTORY --number 9
history prune HISTORY --keep 4
history list HISTORY --last 3
QUESTIONS
for history in here.db "$url#history"; do
    "$snag" query "$history" 'SELECT run, foi, executions, key, value FROM digest JOIN tag USING (run) ORDER BY run, key' \
        >>queried
done
[ "$(sort queried | uniq -c | awk '$1 != 2' | wc -l)" -eq 0 ] || broken "not alike: $(cat queried)"
[ "$(grep -c step queried)" -eq 8 ] || broken "queried: $(cat queried)"

# its page
"$snag" serve "$url#history" --port 0 >address 2>serve.log &
server=$!
until grep -q http address; do
    kill -0 "$server" || broken "$(cat serve.log)"
    sleep 0.1
done
page=$(grep -o 'http[^ ]*' address | head -n 1)
curl -sS "${page%%\?*}api/v1/history?${page#*\?}" >shown
jq -e '(.runs | length) == 4' shown >>checked || broken "the page: $(head -c 300 shown)"
kill "$server"
wait "$server" || true
server=

# one database has both, and an URL alone is its store there
! "$snag" serve "$url" --port 0 >store 2>&1 || broken 'a store that is not there was served'
grep -q "has nothing of snag's ('snag')" store || broken "not clear: $(cat store)"
