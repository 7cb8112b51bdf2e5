#!/usr/bin/env bash
# Requests per second of the parameter server, 4 clients and 36 functions, against what Chimbuko's
# did on such a machine, and by numbers of functions and of ranks.
set -euo pipefail
. "$source/bench/lib.sh"

seconds=3 ranks='64 1024 4096' trees='2x1 3x32 4x8' many='16 256 4096 65536'
if [ -n "${BENCH_TINY:-}" ]; then
    seconds=0.2 ranks=8 trees='3x2' many=8
fi
results=$WORK/ps
rm -rf "$results"
mkdir -p "$results"

echo
echo '| functions, 4 clients | bytes of a delta | requests/s, best | median | every answer whole, best | 5 x 1,300/s |'
echo '|---|---|---|---|---|---|'
for functions in 36 360; do
    for ((i = 0; i < (repetitions + 1) / 2; i++)); do
        say "ps: $functions functions, $((i + 1))"
        "$tools/ps_bench" 4 "$functions" "$seconds" >"$results/out"
        field push_per_s <"$results/out" >>"$results/push$functions"
        field whole_per_s <"$results/out" >>"$results/whole$functions"
    done
    best=$(sort -g "$results/push$functions" | tail -n 1)
    goal=-
    [ "$functions" -ne 36 ] || goal=$(met 6500 "$best")
    printf '| %s | %s | %s | %s | %s | %s |\n' "$functions" "$(field delta_bytes <"$results/out")" \
        "$best" "$(median "$results/push$functions")" \
        "$(sort -g "$results/whole$functions" | tail -n 1)" "$goal"
done

echo
echo '| ranks, 36 functions | steps/s of each | requests/s | latency, median | 99 % | late | server, peak |'
echo '|---|---|---|---|---|---|---|'
for n in $ranks; do
    say "ps: $n ranks"
    rm -f "$results/address"
    "$snag" ps --snapshot "$results/snapshot$n" >"$results/address" &
    server=$!
    while [ ! -s "$results/address" ]; do sleep 0.02; done
    rate=$(calc "2000 / $n" %.3f)
    "$snag" sim "$(cat "$results/address")" --ranks "$n" --rate "$rate" --seconds "$seconds" >"$results/sim"
    peak=$(awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' /proc/$server/status)
    kill "$server"
    wait "$server"
    awk -v n="$n" -v rate="$rate" -v peak="$peak" '
        /requests\/s/ { split($0, part, ": "); split(part[2], word, " "); per_s = word[1] }
        /^latency/ { sub(/^latency: median /, ""); split($0, part, ", (99 % |worst )") }
        /steps late/ { late = $1 }
        END { printf "| %s | %s | %s | %s | %s | %s | %s MiB |\n", n, rate, per_s, part[1], part[2], late, peak }' \
        "$results/sim"
done

# What the server at the top has to do, by ranks and trees: 1,000 steps/s of all ranks together.
echo
if ! command -v jq >/dev/null; then
    echo 'jq is not here: trees are not measured.'
    exit 0
fi
echo '| ranks | tree | servers | steps/s of each | answered/s | latency, median | requests/s at the top | MB/s into it | out of it |'
echo '|---|---|---|---|---|---|---|---|---|'
for n in $many; do
    for tree in $trees; do
        say "ps: $n ranks, tree $tree"
        rate=$(calc "1000 / $n" %.4f)
        "$snag" sim --tree "$tree" --ranks "$n" --rate "$rate" --seconds "$(calc "3 * $seconds" %.1f)" --json |
            jq -r --arg tree "$tree" --arg rate "$rate" '
                def rounded: . * 100 | round / 100;
                .wall_s as $s | .levels[0] as $top |
                "| \(.ranks) | \($tree) | \([.levels[].servers] | map(tostring) | join(" + ")) | \($rate) | " +
                "\(.requests_per_s | round) | \(.latency_median_ns / 1e6 | rounded) ms | " +
                "\($top.requests / $s | rounded) | \($top.received_bytes / $s / 1e6 | rounded) | " +
                "\($top.sent_bytes / $s / 1e6 | rounded) |"'
    done
done
