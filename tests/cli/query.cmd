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

# Values that are no numbers in JSON, texts with zeros in them, many columns, errors half-way, comments.
snag query t.snag 'SELECT 1e999 AS a, -1e999 AS b, 0.0 AS c' --json
snag query t.snag "SELECT 'a' || char(0) || 'b' AS t" --json
snag query t.snag "SELECT 'a' || char(0) || 'b' AS t"
snag query t.snag "SELECT 'a' || char(0) || 'b' AS t" --format csv
snag query t.snag "SELECT $(seq -s, 100)" --json | jq length
snag query t.snag "SELECT $(seq -s, 100)" | wc -w
snag query t.snag "SELECT $(seq -s, 100)" --format csv | tail -1 | tr , '\n' | wc -l
snag query t.snag "SELECT abs(-9223372036854775807 - 1)"
snag query t.snag "SELECT abs(-9223372036854775807 - 1)" --format csv
snag query t.snag 'SELECT 1;--'
snag query t.snag 'SELECT 1; /* and no more */ ; -- at all'
snag query t.snag 'SELECT 1; SELECT 2'
snag query t.snag 'SELECT 1; nonsense'
snag query t.snag "ATTACH '/tmp/x' AS x"
snag analyze t --foi step -o named.snag --run-id job-77 >/dev/null
snag query named.snag "SELECT key, value FROM metadata WHERE key = 'run_id'"
SLURM_JOB_ID=5 snag analyze t --foi step -o other.snag >/dev/null
snag query other.snag "SELECT count(*) FROM metadata WHERE key = 'run_id'"
echo '{"otherData":{"run_id":"its own"},"traceEvents":[{"name":"f","ph":"X","ts":1,"dur":2,"pid":0,"tid":0}]}' >own.json
snag analyze own.json --foi f -o own.snag >/dev/null; snag query own.snag "SELECT value FROM metadata WHERE key = 'run_id'"
snag analyze own.json --foi f -o said.snag --run-id said >/dev/null; snag query said.snag "SELECT value FROM metadata WHERE key = 'run_id'"
snag analyze t --foi step -o levels.snag --levels-from 1 >/dev/null; ls levels.snag/calls | grep levels

# A text that a spreadsheet would take for a formula is none; a number keeps its sign.
snag query t.snag "SELECT '=cmd|'' /C calc''!A0' AS a, '+1+1' AS b, '@SUM(1)' AS c, -1 AS d, -1.5 AS e, '-2' AS \"=f\"" --format csv
