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
bundle_header() { # of what came last
    n_header=$(od -An -tu4 -j4 -N4 "$body" | tr -d ' ')
    head -c $((8 + n_header)) "$body" | tail -c "$n_header" >"$work/header"
}
# How many messages there are only /messages says, each once, whatever records it has: 120 sends, as many receives.
get '/api/v1/messages?limit=3'
bundle_header
check "messages" "$(jq -c '[.total, .shown, .is_estimate]' "$work/header")" '[120,3,false]'
get /api/v1/timeline
bundle_header
check "messages of the timeline" "$(jq -c .messages "$work/header")" null
# Over time: three instructions for each ns, wherever it was read; heat between 40 and what its depth makes of it.
track() { # track NAME PARAMETERS: of the counter of that name
    get /api/v1/counters
    valid get /counters
    get "/api/v1/counters/$(jq --arg name "$1" '.items[] | select(.name == $name).id' "$body")?$2"
    valid get '/counters/{counter}'
    bundle_header
}
column() { # column NAME: of the last track, a number per line
    local offset n type
    read -r offset n type < <(jq -r --arg name "$1" '.columns[] | select(.name == $name) | "\(.offset) \(.n) \(.type)"' "$work/header")
    case $type in
    u32) od -An -v -tu4 -w4 -j $((8 + n_header + offset)) -N $((4 * n)) "$body" ;;
    f64) od -An -v -tf8 -w8 -j $((8 + n_header + offset)) -N $((8 * n)) "$body" ;;
    esac
}
track instructions 'locations=0,2&width=500'
check "instructions over time" "$(jq -c '[.counter.name, .counter.shows, .width, .is_estimate, .n_fell]' "$work/header")" '["instructions","rate",500,false,0]'
check "where" "$(column location | sort -un | xargs)" "0 2"
check "three a ns" "$(paste <(column first) <(column end) <(column mean) | awk '$3 > 2.99e9 && $3 < 3.01e9 { n += $2 - $1 } END { print n }')" 1000
track heat 'locations=0&width=500'
check "heat over time" "$(jq -c '[.counter.shows, .counter.unit]' "$work/header")" '["value","C"]'
check "its range" "$(paste <(column least) <(column greatest) | awk '$1 < 40 || $2 > 43.5 || $1 > $2 { n++ } END { print n + 0, (NR > 50) }')" "0 1"
# What a location without calls reads is told with its rank: .001 W more each 15 us.
track power 'locations=0&width=3&begin=0&end=45000'
check "power where" "$(column location | sort -un | xargs)" 1
check "power over time" "$(paste <(column first) <(column least) <(column greatest) <(column mean) | awk '{ print $1, $2, $3, $4 }' | xargs)" \
    "0 0.001 0.001 0.001 1 0.002 0.002 0.002 2 0.003 0.003 0.003"
track power 'locations=0&as=rate&width=1&begin=0&end=450000'
check "power as a rate" "$(jq -r .counter.shows "$work/header") $(column mean | awk '{ print ($1 > 66.66 && $1 < 66.67) }')" "rate 1"
get '/api/v1/counters/0?as=sum'
check "another way" "$status" 400
get '/api/v1/counters/9'
check "no such counter" "$status" 404
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

# Threads in their teams, as they are described.
"$SNAG" analyze 'synth:60*step(team@10us[work@300us] >1 <1);ranks=2;threads=3;jitter=0.02' --foi step -o "$work/teams.snag" --quiet >/dev/null
serving=(serve "$work/teams.snag")
start
get /api/v1/fois/1/ranks
valid get '/fois/{foi}/ranks'
check "teams" "$(jq -c '[.teams.compared, .teams.threads, .teams.slow]' "$body")" '[120,3,[]]'
stop

exit $failed
