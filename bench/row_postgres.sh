#!/usr/bin/env bash
# Records of anomalies into PostgreSQL, by one writer and by eight at once, in turns with the floor: COPY
# of the same bytes into a table without indexes. SQLite's store has the same records, too, and pgbench
# says what this server does in small transactions. With fsync, as a server should be run.
set -euo pipefail
. "$source/bench/lib.sh"

if [ "${1:-}" != inside ]; then
    status=0
    SNAG_POSTGRES_OPTIONS='-c fsync=on -c full_page_writes=on -c max_wal_size=4GB' \
        bash "$source/tests/postgres/server.sh" with bash "${BASH_SOURCE[0]}" inside || status=$?
    [ "$status" -ne 77 ] || status=0
    exit "$status"
fi

records=50000
seconds=10
[ -z "${BENCH_TINY:-}" ] || records=500 seconds=1
out=$WORK/postgres
sql() { psql -X -q -At -c "$1"; }

# Processor time of the server so far, in microseconds: of its processes that are, and that were.
server_us() {
    local postmaster=$(head -n 1 "$SNAG_POSTGRES/data/postmaster.pid") pid ticks=0 line
    for pid in "$postmaster" $(pgrep -P "$postmaster"); do
        read -r line 2>/dev/null <"/proc/$pid/stat" || continue
        set -- ${line##*) }
        ticks=$((ticks + ${12} + ${13}))
        [ "$pid" != "$postmaster" ] || ticks=$((ticks + ${14} + ${15}))
    done
    echo $((ticks * 1000000 / $(getconf CLK_TCK)))
}

# note NAME: a number, of a turn.
note() { printf '%s\n' "$2" >>"$out.$1"; }

# noted NAME RECORDS COMMAND...: runs it, and notes the server's processor time of a record.
noted() {
    local name=$1 n=$2 busy
    shift 2
    sql CHECKPOINT
    busy=$(server_us)
    "$@"
    note "$name.server" "$(calc "($(server_us) - $busy) / $n")"
}

writers() {
    local w
    for ((w = 0; w < $1; w++)); do
        "$tools/prov_bench" postgresql:// $((records / $1)) >"$out.json.$w" &
    done
    wait
    cat "$out".json.* >"$out.json"
    rm "$out".json.*
}

# Microseconds of a record, from the first that is put until the last is stored, of all in $out.json.
wall() {
    paste <(member began_s <"$out.json") <(member wall_s <"$out.json") <(member records <"$out.json") |
        awk '{ if (NR == 1 || $1 < begin) begin = $1; if ($1 + $2 > end) end = $1 + $2; n += $3 }
            END { printf "%.2f", (end - begin) * 1e6 / n }'
}

floor() {
    local began=$(date +%s%N)
    sql "\\copy floor FROM '$out.copy' (FORMAT binary)"
    note floor.wall "$(calc "($(date +%s%N) - $began) / 1e3 / $records")"
}

cd "$WORK"
rm -rf "$out" "$out".*
"$tools/prov_bench" postgresql:// 16 >/dev/null # makes the tables
for ((i = 0; i < repetitions; i++)); do
    say "PostgreSQL: $((i + 1)) of $repetitions"
    noted one "$records" writers 1
    note one.wall "$(wall)"
    member cpu_us <"$out.json" >>"$out.one.client"
    member put_cpu_us <"$out.json" >>"$out.put"
    sql "\\copy (SELECT * FROM snag.record WHERE run = (SELECT max(run) FROM snag.record)) TO '$out.copy' (FORMAT binary)"
    sql 'DROP TABLE IF EXISTS floor' 2>/dev/null
    sql 'CREATE TABLE floor (LIKE snag.record_0); ALTER TABLE floor ALTER COLUMN data SET STORAGE EXTERNAL'
    noted floor "$records" floor
    rm "$out.copy"
    noted eight "$records" writers 8
    note eight.wall "$(wall)"
    rm -rf "$out"
    "$tools/prov_bench" "$out" "$records" >"$out.json"
    note sqlite.wall "$(wall)"
    member cpu_us <"$out.json" >>"$out.sqlite.client"
done

# line WHAT NAME: of the least of each.
line() {
    local wall=$(smallest "$out.$2.wall") server=- client=- target=-
    [ ! -r "$out.$2.server" ] || server="$(smallest "$out.$2.server") us"
    [ ! -r "$out.$2.client" ] || client="$(smallest "$out.$2.client") us"
    [ "$2" != one ] || target=$(met "$(calc "20000 * $wall / 1e6")" 1)
    printf '| %s | %s | %s | %s | %s | %s |\n' "$1" "$(calc "1e6 / $wall" %.0f)" \
        "$(calc "$wall / $(smallest "$out.floor.wall")")" "$client" "$server" "$target"
}

echo
echo "Of $records records, the best of $repetitions turns; processor times are of a record:"
echo
echo '| | stored per second | time / floor | processor, all threads of the writer | processor, server | at least 20,000 |'
echo '|---|---|---|---|---|---|'
line 'floor: `COPY` of the same bytes, no index' floor
line 'one writer' one
line 'eight at once, together' eight
line 'SQLite, one shard, no server' sqlite
printf '\nPutting a record takes %s us of the thread that does.\n' "$(smallest "$out.put")"
rm -rf "$out" "$out".*
pgbench -q -i -s 10 >/dev/null 2>&1
tps=$(pgbench -n -c 8 -j 2 -T "$seconds" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p')
printf '\n`pgbench -c 8 -j 2` (TPC-B, 5 statements each): %s transactions/s on the same server.\n' "$tps"
