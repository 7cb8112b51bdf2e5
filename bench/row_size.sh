#!/usr/bin/env bash
# Runs from ten million calls on, each ten times as long as the one before: time, memory, and what
# it takes to look at them. How long the longest is says BENCH_CALLS; a billion calls need 55 GB of
# disk while they are analysed, 31 GB afterwards.
#
# BENCH_PLOT names a file for a picture of the times (size_plot.awk).
#
# What is read is the sentence of a program of 64 ranks, whose events are made while they are read.
set -euo pipefail
. "$source/bench/lib.sh"

longest=${BENCH_CALLS:-100000000}
shortest=$((longest < 10000000 ? longest / 10 : 10000000))
threads=${BENCH_THREADS:-2}
times=$WORK/size-times
server=
trap '[ -z "$server" ] || kill $server' EXIT

# sentence CALLS: 64 ranks, executions of 1,041 calls and 20 ends of messages each.
sentence() {
    printf 'synth:%d*step@20us(10*phase@2us(20*kernel@1us(4*leaf@200ns)) 10*exchange(>1 <1));ranks=64;jitter=0.1;slow=kernel/100003/5000' \
        $(($1 / (64 * 1041) + 1))
}

# seconds COMMAND...: how long it takes.
seconds() {
    local log=$times/log
    "$tools/measure" "$@" 2>&1 >/dev/null | grep '^measure:' >"$log"
    calc "$(field wall_s <"$log")" %.3f
}

# first_view RUN: the page's first view of all of a run, from the start of the server: seconds, and
# the server's memory in MiB.
first_view() {
    local began url path
    command -v curl >/dev/null || {
        echo '- -'
        return
    }
    rm -f "$WORK/url"
    began=$(date +%s.%N)
    "$snag" serve "$1" --port 0 >"$WORK/url" &
    server=$!
    until grep -qs http "$WORK/url"; do sleep 0.02; done
    url=$(sed 's|/$||' "$WORK/url")
    for path in run fois/1/candidates 'timeline?width=1000'; do
        curl -sS -o /dev/null "$url/api/v1/$path"
    done
    printf '%s ' "$(calc "$(date +%s.%N) - $began" %.1f)"
    until [ -e "$1/calls/levels.index" ]; do sleep 0.2; done
    curl -sS -o /dev/null -w '%{time_total} ' "$url/api/v1/timeline?width=1000&begin=1&end=20000000"
    awk '/^VmHWM/ { printf "%.0f\n", $2 / 1024 }' "/proc/$server/status"
    kill $server
    wait $server || true
    server=
}

# row CALLS: a line of the table; what is measured stays in $times.
row() {
    local run=$WORK/size.snag log=$times/analyze calls wall cpu
    say "$1 calls"
    rm -rf "$run"
    "$tools/measure" "$snag" analyze -v --threads "$threads" --foi step "$(sentence "$1")" -o "$run" \
        >/dev/null 2>"$log" || [ $? -eq 3 ]
    calls=$(grep 'reading took' "$log" | field calls)
    wall=$(grep '^measure:' "$log" | field wall_s)
    cpu=$(grep '^measure:' "$log" | field cpu_s)
    peak=$(grep '^measure:' "$log" | field peak_bytes)
    stages=$(grep ': forest' "$log" | sed 's/.*: forest/forest/')
    printf '%s %s %s\n' "$calls" "$wall" "$cpu" >>"$times/slope"
    read -r view window memory < <(first_view "$run")
    printf '| %s | %s s | %s s | %s s | %s s | %s s | %s s | %s | %s MiB | %s | %s s | %s s | %s s | %s MiB |\n' \
        "$calls" \
        "$(grep 'reading took' "$log" | sed 's/.*wall_s //' | awk '{ printf "%.1f", $1 }')" \
        "$(calc "$(field forest <<<"$stages") / 1000" %.1f)" \
        "$(calc "$(field features <<<"$stages") / 1000" %.1f)" \
        "$(calc "$(field storing <<<"$stages") / 1000" %.1f)" \
        "$(calc "$wall" %.1f)" "$(calc "$cpu" %.1f)" "$(calc "1e9 * $wall / $calls" %.0f)" \
        "$(calc "$peak / 1048576" %.0f)" "$(calc "$peak / $calls" %.1f)" \
        "$(seconds "$snag" list --top 10 "$run")" "$view" "$window" "$memory"
    rm -rf "$run"
}

rm -rf "$times"
mkdir -p "$times"
printf '\n`%s`, %s threads:\n\n' "$(sentence "$longest")" "$threads"
echo '| calls | reading | forest | labels and model | storing | all | processor | ns a call | peak, resident | bytes a call | list --top 10 | first view | a window | server, resident |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
for ((calls = shortest; calls <= longest; calls *= 10)); do row "$calls"; done
awk '{ n[NR] = log($1); t[NR] = log($2); p[NR] = log($3) } END { if (NR > 1)
    printf "\nTime grows with calls to the power of %.2f, processor time of %.2f.\n",
        (t[NR] - t[1]) / (n[NR] - n[1]), (p[NR] - p[1]) / (n[NR] - n[1]) }' "$times/slope"
[ -z "${BENCH_PLOT:-}" ] || awk -f "$source/bench/size_plot.awk" "$times/slope" >"$BENCH_PLOT"
