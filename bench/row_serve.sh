#!/usr/bin/env bash
# snag serve: windows of the timeline of a long run, what a hundred or two readers see, and how long
# a new ranking takes.
set -euo pipefail
. "$source/bench/lib.sh"

if ! command -v curl >/dev/null || ! command -v jq >/dev/null; then
    printf '\ncurl or jq is not here: not measured.\n'
    exit 0
fi

server=
trap '[ -z "$server" ] || kill $server' EXIT

serve() { # RUN -> $url, $port
    rm -f "$WORK/url"
    "$snag" serve "$1" --port 0 >"$WORK/url" &
    server=$!
    until grep -qs http "$WORK/url"; do sleep 0.05; done
    url=$(sed 's|/$||' "$WORK/url")
    port=${url##*:}
}

stop() {
    kill $server
    wait $server
    server=
}

# Milliseconds a request takes. Each is another one, so that none was kept.
ms() {
    curl -sS -o /dev/null -w '%{time_total}\n' "$@" | awk '{ printf "%.2f\n", 1e3 * $1 }'
}

# line WHAT FILE LIMIT: a row of the table.
line() {
    local least middle
    least=$(smallest "$2") middle=$(median "$2")
    printf '| %s | %s ms | %s ms | %s ms | %s |\n' "$1" "$least" "$middle" "$3" "$(met "$least" "$3")"
}

times=$WORK/serve-times
rm -rf "$times"
mkdir -p "$times"

# ------------------------------------------------------------------------------- timeline
events=${BENCH_EVENTS:-20000000}
trace=$WORK/generated-$events
[ -r "$trace/traces.otf2" ] || "$tools/generate" "$events" "$trace" >&2
"$snag" analyze --foi MPI_Allreduce "$trace" -o "$trace.snag" --force >/dev/null || [ $? -eq 3 ]

# A window somewhere, from microseconds to the whole run, each length as likely on a log scale.
windows() { # COUNT SEED
    awk -v n="$1" -v seed="$2" -v end="$end" 'BEGIN { srand(seed); for (i = 0; i < n; i++) {
        w = exp(log(2000) + rand() * (log(end) - log(2000))); b = rand() * (end - w)
        printf "/api/v1/timeline?width=1000&begin=%.0f&end=%.0f\n", b, b + w + 1 } }'
}

# Files as if they had not been read for long: none of their pages is in memory.
forget() {
    find "$1" -type f -exec dd if={} iflag=nocache count=0 status=none \;
}

serve "$trace.snag"
began=$(date +%s.%N)
until [ -e "$trace.snag/calls/levels.index" ]; do sleep 0.05; done
made=$(calc "$(date +%s.%N) - $began" %.1f)
end=$(curl -s "$url/api/v1/run" | jq .end_ns)
calls=$(curl -s "$url/api/v1/run" | jq .n_calls)
mapfile -t paths < <(windows 400 1)
"$tools/load" 127.0.0.1 "$port" 1 "${BENCH_LOAD_S:-5}" "${paths[@]}" >/dev/null # pages are mapped
"$tools/load" 127.0.0.1 "$port" 1 "${BENCH_LOAD_S:-5}" "${paths[@]}" | tr '=' ' ' >"$times/windows"
for ((i = 0; i < repetitions; i++)); do
    for part in 1 10 100 10000; do
        ms "$url/api/v1/timeline?width=1000&begin=$((end / 3 / part + i))&end=$((end / 3 / part + end / part + i))" \
            >>"$times/window-$part"
    done
    ms "$url/api/v1/messages?end=$((end - i))" >>"$times/messages"
    ms "$url/api/v1/calls/0/0" >>"$times/call"
done
stop
for ((i = 0; i < 3 * repetitions; i++)); do
    forget "$trace.snag"
    serve "$trace.snag"
    ms "$url$(windows 1 $((i + 7)))" >>"$times/first"
    stop
done
bytes=$(find "$trace.snag/calls" -name 'levels.*' -printf '%s\n' | awk '{ n += $1 } END { print n / 1e6 }')
all=$(du -sb "$trace.snag/calls" | awk '{ print $1 / 1e6 }')
rm -rf "$trace.snag"
printf '\nA run of %s calls on 8 locations, windows of 1,000 pixels, all locations and depths; levels take %.0f of %.0f MB and were made in %s s, once:\n\n' \
    "$calls" "$bytes" "$all" "$made"
printf '| window | least | median | budget | met |\n|---|---|---|---|---|\n'
for part in 1 10 100 10000; do
    line "1 / $part of the run" "$times/window-$part" 50
done
line "messages of the whole run" "$times/messages" 50
line "the call of the whole run" "$times/call" 50
line "any, the first look after a start, nothing in memory" "$times/first" 50
printf '\n400 windows anywhere, of any length, again and again: median %s ms, 99 of 100 %s ms, longest %s ms.\n' \
    "$(field median_ms <"$times/windows")" "$(field p99_ms <"$times/windows")" "$(field longest_ms <"$times/windows")"

# -------------------------------------------------------------------------------- readers
archive=$(data lammpsh_s1) || { printf '\nlammpsh_s1 is not here: readers are not measured.\n'; exit 0; }
"$snag" analyze --foi compute "$archive"/*.otf2 -o "$WORK/serve.snag" --force >/dev/null || [ $? -eq 3 ]
serve "$WORK/serve.snag"
paths=()
for ((i = 0; i < 20; i++)); do
    paths+=("/api/v1/fois/1/candidates?offset=$((50 * i))")
done
"$tools/load" 127.0.0.1 "$port" 200 1 "${paths[@]}" >/dev/null
"$tools/load" 127.0.0.1 "$port" 200 "${BENCH_LOAD_S:-5}" "${paths[@]}" | tr '=' ' ' >"$times/load"
trees=$(curl -s "$url/api/v1/run" | jq '.fois[0].trees')
printf '\nA run of %s executions, 200 clients at once for 20 pages of 50 candidates, on the same machine:\n\n' "$trees"
printf '| requests per s | median | 99 of 100 | budget | met |\n|---|---|---|---|---|\n'
p99=$(field p99_ms <"$times/load")
printf '| %s | %s ms | %s ms | 100 ms | %s |\n' "$(field requests_per_s <"$times/load")" \
    "$(field median_ms <"$times/load")" "$p99" "$(met "$p99" 100)"

# ----------------------------------------------------------------------------- one label
json='Content-Type: application/json'
curl -s -o /dev/null -H "$json" -d '{}' "$url/api/v1/fois/1/retrain"
for ((i = 0; i < repetitions; i++)); do
    curl -s -o /dev/null -H "$json" -d "{\"labels\":[{\"tree\":$((37 * i)),\"label\":\"normal\"}]}" \
        "$url/api/v1/fois/1/labels"
    ms -H "$json" -d '{}' "$url/api/v1/fois/1/retrain" >>"$times/retrain"
done
stop
rm -rf "$WORK/serve.snag"
printf '\nThe same run, a new ranking after one more label, asked for over HTTP, stored and answered:\n\n'
printf '| | least | median | budget | met |\n|---|---|---|---|---|\n'
line "new ranking" "$times/retrain" 50
