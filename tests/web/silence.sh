#!/usr/bin/env bash
# A program that says nothing for a while: the page is there as before, whoever listens to its
# events is not cut off, and what comes afterwards is judged as if there had been no pause.
#
#   silence.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
api=/api/v1

# silence STEP CALLS PAUSE: a program with a pause of PAUSE seconds, in steps of STEP seconds; CALLS are over
# before it, of which some are in every step. Returns 1 if the pause was over before it was looked at.
silence() {
    local program="synth:300*step(c@1ms) pause@${3}s 500*step(c@1ms);ranks=2;jitter=0.1;slow=c/290/30" i
    serving=(watch "$program" --speed 1 --step "$1" --store "$work/store-$1")
    start
    for ((i = 0; i < 600; i++)); do
        get $api/live/status
        [ "$(jq .calls "$body")" -ge "$2" ] && break
        sleep 0.05
    done
    check "state before" "$(jq -r .state "$body")" running
    curl -sN -m 900 "$base$api/events" >"$work/events" &
    listener=$!
    for ((i = 0; i < 600; i++)); do
        [ -s "$work/events" ] && break # it is listened to
        sleep 0.05
    done
    get $api/live/status
    check "status in a pause" "$status" 200
    if [ "$(jq .calls "$body")" -gt 1202 ]; then # with those of the pause itself
        kill $listener
        stop_watch
        return 1
    fi
    check "state in a pause" "$(jq -r .state "$body")" running
    get $api/live/points
    check "points in a pause" "$status" 200
    for ((i = 0; i < 600; i++)); do
        get $api/live/status
        [ "$(jq -r .state "$body")" = over ] && break
        sleep 0.05
    done
    "$SNAG" ad "$program" --step "$1" --json >"$work/ad"
    check "the totals of snag ad" "$(jq -c '[.events, .calls, .anomalies]' "$body")" \
        "$(jq -c '[.events, .calls, .anomalies]' "$work/ad")"
    kill -0 $listener 2>/dev/null || { echo "the listener was cut off"; failed=1; }
    for ((i = 0; i < 600; i++)); do # it is on its way
        grep -q "^data:.*$(jq .version "$body")" "$work/events" && break
        sleep 0.05
    done
    [ $i -lt 600 ] || { echo "the last step was not told: $(tail -n 5 "$work/events")"; failed=1; }
    kill $listener
    stop_watch
}

stop_watch() {
    kill -TERM $server
    wait $server || { echo "exit status $? after SIGTERM"; failed=1; }
    server=
}

# in_a_pause STEP CALLS: one that is as long as this machine needs to look at it
in_a_pause() {
    local pause
    for pause in 1 8 64; do
        rm -rf "$work/store-$1"
        ! silence $1 $2 $pause || return 0
    done
    echo "no pause was long enough"
    failed=1
}

in_a_pause 0.05 1000 # steps without events
in_a_pause 0.7 1000  # no steps
exit $failed
