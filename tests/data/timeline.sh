#!/usr/bin/env bash
# timeline.sh SNAG SOURCE WORK PAGE -- what the timeline shows of counters and of launches, against what otf2-print and jq say of the
# traces: as the server answers, and as the page says it in Chromium, if that is here.
set -euo pipefail
SNAG=$1 SOURCE=$2 WORK=$3 PAGE=$4
# shellcheck source=find.sh
. "$SOURCE/tests/data/find.sh"
command -v curl >/dev/null || skip "curl is not here"

# serve RUN -> $url; the server ends with the test
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$run"' EXIT
serve() {
    "$SNAG" serve "$1" --port 0 >"$1.url" &
    servers+=($!)
    for ((i = 0; i < 600; i++)); do [ -s "$1.url" ] && break; sleep 0.05; done
    url=$(head -n 1 "$1.url")
}
# fetch PATH: a bundle. column NAME: a number per line.
fetch() {
    curl -sS -m 60 -o "$run/bundle" "${url%/}/api/v1/$1"
    n_header=$(od -An -tu4 -j4 -N4 "$run/bundle" | tr -d ' ')
    head -c $((8 + n_header)) "$run/bundle" | tail -c "$n_header" >"$run/header"
}
column() {
    local offset n type
    read -r offset n type < <(jq -r --arg name "$1" '.columns[] | select(.name == $name) | "\(.offset) \(.n) \(.type)"' "$run/header")
    case $type in
    u32) od -An -v -tu4 -w4 -j $((8 + n_header + offset)) -N $((4 * n)) "$run/bundle" ;;
    f64) od -An -v -tf8 -w8 -j $((8 + n_header + offset)) -N $((8 * n)) "$run/bundle" ;;
    esac
}
near() { check_true "$1: $2, by otf2-print $3" "($2 - ($3)) ^ 2 <= ($4 * ($3)) ^ 2"; }

# PAPI's counters: how fast each grew from the first reading to the last, and at most and least between two. A tick of the clock is
# less than a nanosecond, so times are rounded: of short stretches the rate is off by that.
find_trace scorep-ping-pong-papi
"$SNAG" analyze "$archive" --foi MPI_Send -o "$run/papi.snag" --quiet >/dev/null
serve "$run/papi.snag"
papi=$url
ticks=$(otf2-print -G "$archive" 2>/dev/null | sed -n 's/.*Ticks per Seconds: \([0-9]*\).*/\1/p' | head -n 1)
otf2-print "$archive" 2>/dev/null | grep '^METRIC' >"$run/printed"
n_compared=0
for location in 0 1; do
    for name in PAPI_TOT_CYC PAPI_L2_TCM PAPI_BR_MSP; do
        read -r least greatest mean first last < <(awk -v l=$location -v name=$name -v ticks="$ticks" '
            $2 == l {
                i = index($0, "\"" name "\"")
                if (i == 0) next
                rest = substr($0, i)
                sub(/^[^;]*; UINT64; /, "", rest)
                value = rest + 0
                if (n++ == 0) { t0 = t = $3; v0 = v = value }
                if ($3 > t) {
                    rate = (value - v) / ($3 - t) * ticks
                    if (lo == "" || rate < lo) lo = rate
                    if (rate > hi) hi = rate
                }
                t = $3; v = value
            }
            END { printf "%.17g %.17g %.17g %.0f %.0f\n", lo, hi, (v - v0) / (t - t0) * ticks, t0, t }' "$run/printed")
        id=$(curl -sS "${url%/}/api/v1/counters" | jq --arg name $name '.items[] | select(.name == $name).id')
        # 126 readings of each location, of all counters in turn
        read -r begin end < <(od -An -v -tu8 -w24 "$run/papi.snag/calls/readings.rec" |
            awk -v l=$location 'NR == 126 * l + 1 { begin = $1 } NR == 126 * (l + 1) { print begin, $1 }')
        near "time of $name, location $location" "($end - $begin)" "($last - $first) / $ticks * 1e9" 1e-6
        fetch "counters/$id?locations=$location&begin=$begin&end=$end&width=1"
        check "$name is told by" "$(jq -r '.counter.shows' "$run/header")" rate
        near "mean of $name, location $location" "$(column mean)" "$mean" 1e-6
        near "least of $name, location $location" "$(column least)" "$least" 2e-3
        near "greatest of $name, location $location" "$(column greatest)" "$greatest" 2e-3
        fetch "counters/$id?locations=$location&begin=$begin&end=$end&width=777"
        near "sum over columns of $name, location $location" \
            "$(paste <(column first) <(column end) <(column mean) | awk '{ sum += ($2 - $1) * $3 } END { printf "%.17g", sum / 777 }')" "$mean" 1e-6
        n_compared=$((n_compared + 1))
    done
done
check "counters compared" "$n_compared" 6

# Sensors of a node that Score-P says to grow: their values, as they are asked for, on a location without calls.
find_trace scorep-mi300
"$SNAG" analyze "$archive" --foi hipEventSynchronize -o "$run/mi300.snag" --quiet >/dev/null
serve "$run/mi300.snag"
for name in A2rocm_smi:::current_socket_power:device=0 A2rocm_smi:::energy_count:device=2 A2coretemp:::hwmon5:power1_input; do
    id=$(curl -sS "${url%/}/api/v1/counters" | jq --arg name $name '.items[] | select(.name == $name).id')
    fetch "counters/$id?locations=0&as=value&width=2000"
    values=$(otf2-print "$archive" 2>/dev/null | grep '^METRIC' | grep -F "\"$name\"" | grep -o 'UINT64; [0-9]*' | cut -c9-)
    check "readings of $name" "$(jq .n_readings "$run/header")" "$(wc -l <<<"$values")"
    check "range of $name" "$(column least | sort -g | head -n 1 | awk '{ printf "%.0f", $1 }') $(column greatest | sort -g | tail -n 1 | awk '{ printf "%.0f", $1 }')" \
        "$(sort -n <<<"$values" | head -n 1) $(sort -n <<<"$values" | tail -n 1)"
done

# Launches: each with its delay, from the flow of the trace.
find_trace kineto-dlrm
files=("$directory"/*/*.json)
"$SNAG" analyze "${files[@]}" --foi ProfilerStep -o "$run/job.snag" --quiet >/dev/null
serve "$run/job.snag"
fetch 'dependencies?limit=100000'
delays() {
    jq -r '[.traceEvents[] | select(.cat == "ac2g" and (.ph == "s" or .ph == "f"))] | group_by(.id)[] | select(length == 2) |
        (map(select(.ph == "f"))[0].ts - map(select(.ph == "s"))[0].ts) * 1000' "$@"
}
check "launches" "$(jq -c '[.total, .shown, .is_estimate]' "$run/header")" '[2116,2116,false]'
check "their delays" "$(paste <(column from_ns) <(column to_ns) | awk '{ printf "%.0f\n", $2 - $1 }' | sort -n | md5sum)" \
    "$(for file in "${files[@]}"; do delays "$file"; done | sort -n | md5sum)"

# The page: of one call of PAPI's run, and of the launch that took longest.
longest=$(paste <(column to) <(column to_call) <(column from_ns) <(column to_ns) | awk '{ d = $4 - $3; if (d > most) { most = d; at = $1 "." $2 } } END { printf "%s %.0f", at, most }')
check "the longest delay" "${longest#* }" "$(for file in "${files[@]}"; do delays "$file"; done | sort -n | tail -n 1)"
# The longest stretch of location 0 between two readings, of those below 10 ms: what the page says in the middle of it.
read -r from until rate < <(awk -v ticks="$ticks" '$2 == 0 && /"PAPI_TOT_CYC"/ {
        rest = substr($0, index($0, "\"PAPI_TOT_CYC\"")); sub(/^[^;]*; UINT64; /, "", rest); v = rest + 0
        if (n == 0) first = $3
        if (n++ > 0 && $3 - t > most && $3 - t < ticks / 100) { most = $3 - t; a = t - first; b = $3 - first; r = (v - last) / ($3 - t) * ticks }
        t = $3; last = v
    } END { printf "%.0f %.0f %.17g\n", a / ticks * 1e9, b / ticks * 1e9, r }' "$run/printed")
begin=$(od -An -v -tu8 -w24 -N24 "$run/papi.snag/calls/readings.rec" | awk '{ print $1 }')
if [ -d "$PAGE/node_modules" ]; then
    status=0
    PAPI=$papi JOB=$url COUNTER=PAPI_TOT_CYC FROM=$((begin + from)) UNTIL=$((begin + until)) RATE=$rate CALL=${longest% *} DELAY=${longest#* } \
        node "$PAGE/e2e/real_timeline.mjs" || status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ] || failed=1
else
    echo "the page was not built: it was not looked at"
fi
exit $failed
