#!/usr/bin/env bash
# snag export --format parquet, read back by hyparquet and DuckDB: every value equal.
#
#   read.sh SNAG SOURCE WORK
#
#   SOURCE  this directory
#   WORK    where the readers are installed, once
set -eu
snag=$1 source=$2 work=$3
command -v npm >/dev/null || { echo "npm is not installed"; exit 77; }
mkdir -p "$work"
# not npm ci: it wants DuckDB for every platform to be in the registry
if ! cmp -s "$source/package-lock.json" "$work/installed.json"; then
    cp "$source/package.json" "$source/package-lock.json" "$work"
    (cd "$work" && npm install --no-audit --no-fund >npm.log 2>&1) || { cat "$work/npm.log"; exit 77; }
    cp "$source/package-lock.json" "$work/installed.json"
fi
cp "$source"/*.mjs "$work"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# check TRACE FOI -- all tables of its run
check() {
    "$snag" analyze "$1" --foi "$2" -o run.snag --force --quiet >/dev/null || [ $? -eq 3 ]
    "$snag" label run.snag '#0-0=abnormal' --author me >/dev/null
    rm -rf tables && "$snag" export run.snag --format parquet -o tables/
    "$snag" export run.snag --what calls -o tables/calls.csv
    "$snag" export run.snag --format json -o tables/executions.json
    node "$work/read.mjs" run.snag tables
}

check 'synth:40*step(a@1ms(b c) >1 <1 io@2ms | d);ranks=3;jitter=0.1;slow=b/7/40' step
check 'synth:step(a)' step # no messages, one execution
# more than a page of each, and a column that has more than one dictionary's width
check 'synth:2000*step(a@9us(b c d e f g h i j k l m n o p q r) >1 <1);ranks=2;jitter=0.2' step
# the questions of the documentation; stops that others wait for
check 'synth:300*round(step(solve@1ms(a b) >1 <1 |) rest@20us);ranks=4;jitter=0.05;slow=solve/150/20/2;slow=a/200/9000/1' step
"$snag" label run.snag '#2-150=normal' '#1-20=abnormal' --author me >/dev/null
rm -r tables && "$snag" export run.snag --format parquet -o tables/
(cd tables && node "$work/queries.mjs" "$snag" ../run.snag "$source/../../docs/queries.md")
# a row group is full: the rows on both sides of its end
"$snag" analyze 'synth:32000*step(a@9us(b c) a@7us(d e f g) 9*h);ranks=2;jitter=0.1' --foi step -o large.snag --quiet >/dev/null
"$snag" export large.snag --what calls --format parquet -o large.parquet
"$snag" export large.snag --what calls -o large.csv
cat >"$work/large.mjs" <<'M'
import { DuckDBInstance } from '@duckdb/node-api'
const duck = await (await DuckDBInstance.create(':memory:')).connect()
const of = async (sql) => (await duck.runAndReadAll(sql)).getRowsJS()[0].map(Number)
const csv = `SELECT * REPLACE (nullif(parent, -1) AS parent) FROM read_csv('large.csv', header = true, types = {'region': 'VARCHAR', 'parent': 'BIGINT'})`
const left = await of(`SELECT count(*) FROM (SELECT * FROM 'large.parquet' EXCEPT ALL ${csv})`)
const right = await of(`SELECT count(*) FROM (${csv} EXCEPT ALL SELECT * FROM 'large.parquet')`)
const [n, groups] = await of(`SELECT (SELECT count(*) FROM 'large.parquet'), (SELECT count(DISTINCT row_group_id) FROM parquet_metadata('large.parquet'))`)
if (left[0] || right[0] || n < 2 ** 20 || groups < 2) { console.error({ left, right, n, groups }); process.exit(1) }
console.log(`${n} calls in ${groups} row groups`)
M
node "$work/large.mjs"
# several processes write the same rows, and take no part of another number of them for their own
tables=$dir readers=$work
(
    SNAG=$(realpath "$snag")
    . "$source/../mpi/launchers.sh"
    for kind in "${launchers[@]}"; do
        rm -rf parts
        launch $kind 3 "$SNAG" export --together "$tables/run.snag" --format parquet -o parts/ || fail "$kind: status $?"
        [ "$(ls parts | tr '\n' ' ')" = "calls-0.parquet calls-1.parquet calls-2.parquet executions.parquet \
messages-0.parquet messages-1.parquet messages-2.parquet " ] || fail "$kind: $(ls parts)"
        cmp parts/executions.parquet "$tables/tables/executions.parquet" || fail "$kind: other executions"
        node "$readers/parts.mjs" parts "$tables/tables" || fail "$kind: other rows"
        ! launch $kind 2 "$SNAG" export --together "$tables/run.snag" --format parquet -o parts/ 2>said || fail "$kind: parts of three are kept by two"
        grep -q "would be read with what is written now" said || fail "$kind: $(cat said)"
        ! "$SNAG" export "$tables/run.snag" --format parquet -o parts/ 2>said || fail 'parts of three are kept by one'
        [ "$(ls parts | wc -l)" -eq 7 ] || fail "$kind: $(ls parts)"
    done
    finish
) || [ $? -eq 77 ]
