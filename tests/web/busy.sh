#!/usr/bin/env bash
# While subtrees are looked for, which may take as long as an analysis, a new ranking is not kept
# waiting; those of the next execution need not be looked for again; and what nobody has begun to
# look for when the server ends is not looked for any more.
#
#   busy.sh SNAG VALIDATE NONSENSE
trace='synth:1000*step(solve@1ms(40*sort@0.1ms 30*b(c)) send);jitter=0.3' foi='/^s(tep|olve)$/'
analysis=(--epochs 50)
. "$(dirname "$0")/server.sh"
start
api=$base/api/v1/fois
most=16

for foi in 1 2; do
    post /api/v1/fois/$foi/retrain '{}' # from now on it takes milliseconds
    check "retrain" "$status" 200
done

# What is kept gives the same as what is found anew.
for tree in 3 9; do
    get /api/v1/fois/1/executions/$tree/subtrees
    "$SNAG" show "$run" "step#0-$tree" --subtrees --json 2>/dev/null | jq -S .subtrees >"$work/shown"
    check "subtrees of $tree" "$(jq -S .subtrees "$body" | cksum)" "$(cksum <"$work/shown")"
done

# Those of the function that was not asked for last are looked for anew: these are many times that.
asking=()
mkdir "$work/answers"
for ((i = 0; i < most; i++)); do
    curl -s -m 280 -o /dev/null -w '%{http_code}' "$api/$((1 + i % 2))/executions/$i/subtrees" \
        >"$work/answers/$i" &
    asking+=($!)
done
answered() { cat "$work"/answers/* | grep -o 200 | wc -l; }
for ((i = 0; i < 600; i++)); do # all but those that were answered wait
    get /metrics
    [ $(($(sed -n 's/^snag_connections //p' "$body") + $(answered))) -ge $most ] && break
    sleep 0.01
done
post /api/v1/fois/1/retrain '{}'
check "retrain meanwhile" "$status" 200
[ "$(answered)" -lt $most ] || { echo "a ranking waits until $most subtrees are found"; failed=1; }
stop
wait "${asking[@]}"
[ "$(answered)" -lt $most ] || { echo "a server that ends finds subtrees for all $most"; failed=1; }
exit $failed
