#!/usr/bin/env bash
# Records of anomalies into a store of provenance: what putting them costs the thread that does,
# how many a second are stored, and how large they are.
set -euo pipefail
. "$source/bench/lib.sh"

records=20000
[ -z "${BENCH_TINY:-}" ] || records=500
budget_bytes=2048
out=$WORK/prov
echo
echo '| shards | put, processor time of the caller | stored per second, best | median record | as JSON | with row and indexes | median <= 2 KiB |'
echo '|---|---|---|---|---|---|---|'
for shards in 1 4; do
    : >"$out.json"
    for ((i = 0; i < repetitions; i++)); do
        say "provenance, $shards shards: $((i + 1)) of $repetitions"
        rm -rf "$out"
        "$tools/prov_bench" "$out" "$records" "$shards" >>"$out.json"
    done
    member put_cpu_us <"$out.json" >"$out.put"
    member stored_per_s <"$out.json" | sed 's/^/-/' >"$out.rate"
    last=$(tail -n 1 "$out.json")
    bytes=$(member median_bytes <<<"$last")
    printf '| %s | %s us | %s | %s bytes | %s bytes | %s bytes | %s |\n' "$shards" \
        "$(smallest "$out.put")" "$(smallest "$out.rate" | tr -d -)" "$bytes" \
        "$(member json_bytes <<<"$last")" "$(member file_bytes <<<"$last")" \
        "$(met "$bytes" "$budget_bytes")"
done
rm -rf "$out" "$out".*
