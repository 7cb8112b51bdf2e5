#!/usr/bin/env bash
# /healthz says when what is served can no longer be read, or written where it should be, and when
# it can again.
#
#   health.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
api=/api/v1

healthy() { # WHEN STATUS
    get /healthz
    check "$1" "$status" "$2"
    if [ "$2" = 200 ]; then
        check "what it says $1" "$(cat "$body")" ok
    else
        check "what it says $1" "$(header content-type)" application/problem+json
    fi
}

# limit_files PID BYTES: no file of the process grows beyond
if command -v prlimit >/dev/null; then
    limit_files() { prlimit --pid "$1" --fsize="$2:unlimited"; }
else
    echo "prlimit is not here: full disks are left out"
    limit_files() { return 1; }
fi

# A run that somebody moves away, and brings back.
start
healthy "of a run" 200
mv "$run/run.db" "$work/away"
healthy "of a run that is gone" 503
echo nothing >"$run/run.db"
healthy "of another run in its place" 503
mv "$work/away" "$run/run.db"
healthy "of a run that is back" 200

# A full disk.
if limit_files $server 4096; then
    for ((i = 0; i < 100; i++)); do
        post $api/fois/1/labels '{"labels":[{"tree":3,"label":"normal"}]}'
        [ "$status" = 500 ] && break
    done
    check "a label on a full disk" "$status" 500
    healthy "when nothing can be written" 503
    get $api/run
    check "reading on a full disk" "$status" 200
    post $api/fois/1/labels '{"labels":[{"tree":-3,"label":"normal"}]}'
    healthy "after a wrong question" 503
    limit_files $server unlimited
    post $api/fois/1/labels '{"labels":[{"tree":3,"label":"normal"}]}'
    check "a label when there is room" "$status" 200
    healthy "when there is room" 200
fi
kill -TERM $server
wait $server || { echo "exit status $? after SIGTERM"; failed=1; }
server=

# A program that goes on when its store is full.
echo '{"algorithm": "sstd", "sstd_sigma": 1.5}' >"$work/often.json"
serving=(watch 'synth:1000000*step(c@200us >1 <1);ranks=4;jitter=0.05;slow=c/10/30' --speed 1 --step 0.02
    --algo-file "$work/often.json" --store "$work/store")
start
healthy "of a program" 200
child=$(cat /proc/$server/task/$server/children)
for ((i = 0; i < 1200; i++)); do
    get $api/live/status
    [ "$(jq .store.stored "$body")" -gt 0 ] && break
    sleep 0.05
done
if limit_files $((child)) 4096; then
    for ((i = 0; i < 1200; i++)); do
        get /healthz
        [ "$status" = 503 ] && break
        sleep 0.05
    done
    healthy "of a program whose store is full" 503
    get $api/live/status
    check "it says so itself" "$(jq .store.is_failing "$body")" true
    limit_files $((child)) unlimited
    for ((i = 0; i < 1200; i++)); do
        get /healthz
        [ "$status" = 200 ] && break
        sleep 0.05
    done
    healthy "when the store has room again" 200
fi
kill -TERM $server
wait $server
server=

# What is left of it.
serving=(serve "$work/store")
start
healthy "of a store" 200
mv "$work/store" "$work/away"
healthy "of a store that is gone" 503
mv "$work/away" "$work/store"
healthy "of a store that is back" 200
stop
exit $failed
