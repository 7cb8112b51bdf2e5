#!/usr/bin/env bash
# What a call was called with and what counters say of it, over HTTP, for each call of a trace: sums and differences
# that must hold; and runs whose counters are damaged or missing.
#
#   details.sh SNAG VALIDATE NONSENSE
sample_archive=$(dirname "$2")/support/sample_archive
trace=$(mktemp -d)
"$sample_archive" "$trace" counted
. "$(dirname "$0")/server.sh"
rm -rf "$trace"

start
# Counted are three for each ns of true time, and the clocks of ranks 1 and 2 were put right: to within a ns or two.
for call in 0/1 0/2 2/1 2/9 4/1 4/100; do
    get "/api/v1/calls/$call"
    valid get '/calls/{location}/{row}'
    check "instructions of $call" "$(jq -c '. as $c | .counters[] | select(.name == "instructions") |
        [(.inclusive - 3 * ($c.leave_ns - $c.enter_ns) | fabs <= 6), (.own - 3 * $c.exclusive_ns | fabs <= 60), .inclusive == .end - .begin,
         .mode, .span, .unit, .before, .last, .location]' "$body")" '[true,true,true,"accumulated","start","#",null,null,null]'
    check "heat of $call" "$(jq -c '. as $c | .counters[] | select(.name == "heat") |
        [.begin == 40 + .5 * $c.depth, .end == 40 + .5 * ($c.depth + 1), .inclusive, .own, .per_s, .unit]' "$body")" '[true,true,null,null,null,"C"]'
done
# Rank 0 alone has a location that reads its power, in mW, every 15 us.
get /api/v1/calls/0/0
check "power of main" "$(jq -c '.counters[] | select(.name == "power") | [.location, .begin, .end, .n_readings,
    .before == {time_ns: 0, value: 0}, .last == {time_ns: 585000, value: .039}, .least == .001, .greatest == .039]' "$body")" '[1,null,null,39,true,true,true,true]'
get /api/v1/calls/2/0
check "no power on rank 1" "$(jq -c '[.counters[].name]' "$body")" '["instructions","heat"]'
check "main has no arguments" "$(jq -c '[.arguments, .n_arguments]' "$body")" '[[],0]'
# A thread that nobody counted.
get /api/v1/calls/3/4
check "thread" "$(jq -c '[.counters, .n_counters, .arguments]' "$body")" '[[],0,[]]'
# The fourth step of rank 2.
row=$("$SNAG" query "$run" "SELECT call FROM execution WHERE rank = 2 AND idx = 3" --format csv | tail -n 1)
get "/api/v1/calls/4/$row"
check "arguments" "$(jq -c .arguments "$body")" '[{"name":"number","value":3},{"name":"parity","value":"odd"}]'
stop

# A byte of what was read is another: it is shown as it is, and the run is told apart from a whole one.
cp -r "$run" "$work/odd.snag"
printf '\xff' | dd of="$work/odd.snag/calls/readings.rec" bs=1 seek=30 conv=notrunc status=none
serving=(serve "$work/odd.snag")
start
get /api/v1/calls/0/0
check "damaged values are answered" "$status" 200
stop
# The index is another, or missing: the run is not opened.
for damage in "truncate -s -1 FILE" "rm FILE"; do
    rm -rf "$work/odd.snag"
    cp -r "$run" "$work/odd.snag"
    ${damage/FILE/$work/odd.snag/calls/details.index}
    if "$SNAG" list "$work/odd.snag" >/dev/null 2>"$work/errors"; then
        echo "$damage: not noticed"
        failed=1
    fi
    grep -q 'details.index' "$work/errors" || { echo "$damage: $(cat "$work/errors")"; failed=1; }
done
exit $failed
