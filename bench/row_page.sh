#!/usr/bin/env bash
# The page of snag serve with a million executions, in the system's Chromium (CHROMIUM): how long until
# its points are there, what the tab holds, how fast it pans. web/e2e/measure.mjs says how that is
# measured.
set -euo pipefail
. "$source/bench/lib.sh"

page=$BUILD/web
skip() {
    printf '\n%s: not measured.\n' "$1"
    exit 0
}
[ -d "$page/node_modules" ] || skip "the page was not built, as there is no npm"
[ -n "${CHROMIUM:-$(command -v chromium-headless-shell || command -v chromium)}" ] || skip "no browser is here"
command -v jq >/dev/null || skip "jq is not here"

executions=${BENCH_EXECUTIONS:-1000000}
ranks=${BENCH_RANKS:-4}
[ -z "${BENCH_TINY:-}" ] || executions=4000
run=$WORK/page-$executions-$ranks.snag
[ -d "$run" ] || "$snag" analyze --foi step -o "$run" --quiet \
    "synth:$((executions / ranks))*step(compute@50us(a b) >1 <1);ranks=$ranks;jitter=0.1;slow=compute/6700/9/2" >/dev/null

rm -f "$WORK/url"
"$snag" serve "$run" --port 0 >"$WORK/url" &
server=$!
trap 'kill $server' EXIT
until grep -qs http "$WORK/url"; do sleep 0.05; done
measured=$(node "$page/e2e/measure.mjs" "$(cat "$WORK/url")" ${BENCH_GPU:+--gpu})
value() { jq ".$1" <<<"$measured"; }

# line WHAT VALUE UNIT LIMIT
line() { printf '| %s | %s %s | %s %s | %s |\n' "$1" "$2" "$3" "$4" "$3" "$(met "$2" "$4")"; }

drawer='SwiftShader, on the same cores as all else'
[ -z "${BENCH_GPU:-}" ] || drawer='the graphics unit'
printf '\nThe page of a run of %s executions at 1280 x 720, drawn by %s; times since the navigation began:\n\n' \
    "$executions" "$drawer"
printf '| | measured | budget | met |\n|---|---|---|---|\n'
line 'first text' "$(value text_ms)" ms 3000
line 'candidates' "$(value candidates_ms)" ms 3000
line 'first points, the server just started' "$(value first_points_of_first_load_ms)" ms 3000
line 'first points, after that' "$(value first_points_ms)" ms 3000
printf '| all points | %s ms | | |\n' "$(value all_points_ms)"
line 'memory of the tab' "$(value tab_mb)" MB 500
line 'JavaScript of a frame while panning' "$(value script_ms)" ms 16.7
printf '| all of the tab and its drawing, the same frame | %s ms | | |\n' "$(value main_ms)"
printf '| frames per second while panning | %s | 60, with a graphics unit | |\n' "$(value frames_per_s)"
printf '| the same of the timeline, and its slowest of 20 | %s, %s ms | 60, with a graphics unit | |\n' \
    "$(value timeline_frames_per_s)" "$(value timeline_frame_p95_ms)"
printf '| the timeline coloured by excess | %s, %s ms | 60, with a graphics unit | |\n' \
    "$(value excess_frames_per_s)" "$(value excess_frame_p95_ms)"
printf '| until calls are coloured by excess | %s ms | | |\n' "$(value excess_ms)"
