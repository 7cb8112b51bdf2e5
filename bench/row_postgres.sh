#!/usr/bin/env bash
# Records of anomalies into PostgreSQL, by one writer and by eight at once; pgbench beside it says what
# this server does in small transactions. With fsync, as a server should be run.
set -euo pipefail
. "$source/bench/lib.sh"

if [ "${1:-}" != inside ]; then
    status=0
    SNAG_POSTGRES_OPTIONS='-c fsync=on -c full_page_writes=on -c max_wal_size=4GB' \
        bash "$source/tests/postgres/server.sh" with bash "${BASH_SOURCE[0]}" inside || status=$?
    [ "$status" -ne 77 ] || status=0
    exit "$status"
fi

records=20000
seconds=10
[ -z "${BENCH_TINY:-}" ] || records=500 seconds=1
cd "$WORK"
echo
echo '| writers | put, processor time of the caller | stored per second, all together, best | at least 20,000 |'
echo '|---|---|---|---|'
for writers in 1 8; do
    rm -f postgres.rate postgres.put
    for ((i = 0; i < repetitions; i++)); do
        say "PostgreSQL, $writers writers: $((i + 1)) of $repetitions"
        began=$(date +%s.%N)
        for ((w = 0; w < writers; w++)); do
            "$tools/prov_bench" postgresql:// "$records" >"postgres.$w.json" &
        done
        wait
        ended=$(date +%s.%N)
        if [ "$writers" -eq 1 ]; then
            member stored_per_s <postgres.0.json
        else # of processes that begin together: with making their records
            echo "$(calc "$writers * $records / ($ended - $began)" %.0f)"
        fi | sed 's/^/-/' >>postgres.rate
        member put_cpu_us <postgres.0.json >>postgres.put
    done
    rate=$(smallest postgres.rate | tr -d -)
    printf '| %s | %s us | %s | %s |\n' "$writers" "$(smallest postgres.put)" "$rate" \
        "$(met "$(calc "20000 / $rate")" 1)"
done
rm -f postgres.*
pgbench -q -i -s 10 >/dev/null 2>&1
tps=$(pgbench -n -c 8 -j 2 -T "$seconds" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p')
printf '\n`pgbench -c 8 -j 2` (TPC-B, 5 statements each): %s transactions/s on the same server.\n' "$tps"
