#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
snag query t.snag 'SELECT rank, count(*) AS n, sum(vertices) FROM execution GROUP BY rank'
snag query t.snag 'SELECT id, name, kind, calls, inclusive_ns, min_ns FROM region WHERE calls > 0 ORDER BY id'
snag query t.snag 'SELECT id, rank, thread, name, source_id, records, calls, sends, recvs, collectives, first_ns, last_ns FROM location'
snag query t.snag 'SELECT id, name, members FROM comm'
snag query t.snag "SELECT key, value FROM meta WHERE key NOT IN ('created', 'trace', 'snag') ORDER BY key"
snag query t.snag 'SELECT name FROM region WHERE id = 3' --format csv
snag query t.snag 'SELECT name, NULL AS none, 1.5 AS x FROM region WHERE id = 3' --json | jq -c .
snag query t.snag 'SELECT 1 AS one' --format json
snag query t.snag 'SELECT 1 AS one' --quiet --verify --threads 1 --verbose
snag query t.snag 'SELECT 1 AS one WHERE 0'
snag query t.snag 'SELECT 1 AS one WHERE 0' --json
snag query t.snag 'SELECT 1 AS one WHERE 0' --format csv

# All time is in main, but for what the second thread sorts.
snag query t.snag "SELECT sum(exclusive_ns) - (SELECT inclusive_ns FROM region WHERE name = 'main') AS sorting_ns FROM region"
snag export t.snag --what calls --format csv | awk -F, '$1 == 1 && $2 == 1 { ns += $NF } END { print ns }'

# Only questions.
snag query t.snag 'DELETE FROM execution'
snag query t.snag 'SELECT 1; SELECT 2'
snag query t.snag 'SELEC 1'
snag query t.snag 'SELECT * FROM nowhere'
snag query t.snag ''
snag query t.snag 'SELECT 1' --format chrome
snag query t.snag 'SELECT 1' --format text
