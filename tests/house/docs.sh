#!/bin/bash
# docs.sh SOURCE -- docs/formats.md names what the program writes: the kinds of trace quality, the
# columns of calls/, the tables and columns of run.db and what meta holds, the fields of JSON.
set -eu

cd "$1"
status=0

# A line for each piece between two backticks of a line, whether it is code or stands between two pieces of code.
quoted=$(awk -F'`' '{ for (i = 2; i < NF; i++) print $i }' docs/formats.md)

# need WHAT NAMES... -- each name stands in the page, quoted as code.
need() {
    local what=$1 missing
    shift
    [ $# -gt 0 ] || { echo "no $what found: this test has to follow the code"; status=1; return; }
    missing=$(printf '%s\n' "$@" | grep -vxFf <(echo "$quoted")) || return 0
    sed "s/.*/not in docs\/formats.md: $what '&'/" <<<"$missing"
    status=1
}

need "trace quality" $(sed -n 's/^ *X(\([a-z_]*\),.*/\1/p' src/trace/quality.h)
need "column" $(grep -o '"[a-z_]*\.[a-z]*[0-9]*"' src/run/columns.c | tr -d '"' | sort -u)
need "table" $(sed -n 's/^CREATE TABLE \([a-z_]*\).*/\1/p' src/run/schema.sql)
need "table of a store" $(sed -n 's/^CREATE TABLE IF NOT EXISTS \([a-z_]*\).*/\1/p' src/prov/prov_schema.sql)
need "column of a store" $(sed -n '/^CREATE TABLE/,/^)/s/^    \([a-z_]*\) .*/\1/p' src/prov/prov_schema.sql |
    sort -u | grep -v '^key$')
need "view of a store" $(sed -n 's/^    {"\([a-z_]*\)",.*/\1/p' src/prov/prov_reader.c)
need "column of a view" $(grep -oE ' AS [a-z_]+' src/prov/prov_reader.c | cut -c5- | sort -u)
need "column of a table" $(sed -n '/^CREATE TABLE/,/^)/s/^    \([a-z_]*\) .*/\1/p' src/run/schema.sql |
    sort -u | grep -v '^value$')
need "key of meta" $(sed -n 's/.*{"\([a-z_]*\)", .*/\1/p; s/.*rundb_set[a-z_]*(db, "\([a-z_]*\)".*/\1/p' \
    src/run/run_summary.c src/run/rundb.c src/cmd/cmd_analyze.c | sort -u)
need "field of JSON" $(grep -hoE 'json_object_set_new\([a-z>.-]+, "[a-z_]+"' src/cmd/*.c src/view/*.c src/prov/*.c |
    sed 's/.*"\(.*\)"/\1/' | sort -u)
need "field of packed JSON" $(cat src/cmd/*.c src/view/*.c | tr -d '\n' | grep -oE 'json_pack\([^;]*;' |
    grep -oE '"[a-z_]+"' | tr -d '"' | sort -u)
exit $status
