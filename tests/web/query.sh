#!/usr/bin/env bash
# SQL of the page, from outside: what takes long keeps nobody else waiting, and ends when its time is over, when
# whoever asked leaves, or when the server ends; what is no question is refused, and the run stays as it is.
#
#   query.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
endless='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
ask() { get /api/v1/query -G --data-urlencode "sql=$1" "${@:2}"; }
now() { date +%s%N; }

start
before=$(cat "$run/run.db" | cksum)
ask 'SELECT count(*) AS n FROM execution'
valid get /query
check "an answer" "$(jq -c '[.columns, .rows, .total]' "$body")" '[["n"],[[300]],1]'
check "it is not kept elsewhere" "$(header cache-control)" "no-cache"

# While one goes on, others are answered, but for further queries.
curl -s -m 60 -G -o "$work/long" -w '%{http_code}' "$base/api/v1/query" --data-urlencode "sql=$endless" \
    --data-urlencode seconds=9 >"$work/long.status" &
long=$!
sleep 0.3
answered=$(curl -s -o /dev/null -w '%{http_code}\n' "$base/api/v1/fois/1/executions/[1-40]" | grep -c '^200')
check "others that were answered" "$answered" 40
kill -0 $long 2>/dev/null || { echo "40 other requests waited for the query"; failed=1; }
wait $long
check "status after its time" "$(cat "$work/long.status")" 400
check "why" "$(jq -r .detail "$work/long")" "the query was stopped: it took longer than 9 s"

# Who leaves makes room for the next: eight of ten seconds each would keep it waiting.
for i in {1..8}; do
    curl -s -m 0.3 -G -o /dev/null "$base/api/v1/query" --data-urlencode "sql=$endless" &
    left[i]=$!
done
wait "${left[@]}"
begin=$(now)
ask 'SELECT 1'
check "after those who left" "$status" 200
took=$(((($(now) - begin)) / 1000000))
[ $took -lt 9000 ] || { echo "the next query waits $took ms for those whose clients have left"; failed=1; }

# Attacks.
for sql in "ATTACH '$work/x.db' AS x" "VACUUM INTO '$work/x.db'" 'DELETE FROM label' 'PRAGMA journal_mode=DELETE' \
    "SELECT load_extension('x')" "SELECT writefile('$work/x.db', 'x')" 'SELECT 1; DROP TABLE execution' \
    'PRAGMA database_list' 'SELECT * FROM pragma_database_list'; do
    ask "$sql"
    check "$sql" "$status" 400
done
[ ! -e "$work/x.db" ] || { echo "a query has written a file"; failed=1; }
check "run.db" "$(cat "$run/run.db" | cksum)" "$before"
get /api/v1/query -X POST -H 'Content-Type: application/json' --data '{"sql": "SELECT 1"}'
check "not by POST" "$status" 405
get /api/v1/query?sql=SELECT%201 -H 'Origin: http://elsewhere.example'
check "from another page" "$status" 403
ask "SELECT '$(printf 'x%.0s' {1..9000})'"
check "beyond an address" "$status" 414

# A server that ends waits for no query.
curl -s -m 60 -G -o /dev/null "$base/api/v1/query" --data-urlencode "sql=$endless" &
long=$!
sleep 0.3
begin=$(now)
stop
took=$(((($(now) - begin)) / 1000000))
[ $took -lt 8000 ] || { echo "the server ended after $took ms"; failed=1; }
wait $long
exit $failed
