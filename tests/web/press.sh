#!/usr/bin/env bash
# Clients that take what they can: slots, memory, time. Others are answered meanwhile, memory stays
# small, and the server ends when it is told to.
#
#   press.sh SNAG VALIDATE NONSENSE SAMPLE_STORE SOAK WRITTEN PRESS
is_long=${SNAG_LONG:-}
. "$(dirname "$0")/server.sh"
press=$7
most=131072 # KiB that the server may grow by
is_sanitized=$(ldd "$SNAG" | grep -E 'lib[at]san')
[ -z "$is_sanitized" ] || most=4194304 # most of that is the sanitizer's

# grows_little WHAT COMMAND...: what it prints is in $work/pressed
grows_little() {
    local what=$1 highest
    shift
    "$@" >"$work/pressed" || { echo "$what: $(cat "$work/pressed")"; failed=1; }
    highest=$(resident HWM)
    echo "$what: $(tail -n 1 "$work/pressed"), $(((highest - little) / 1024)) MiB more"
    [ $((highest - little)) -le $most ] || { echo "$what: from $little KiB to $highest KiB"; failed=1; }
}

resident() { # KiB now (RSS), or the highest so far (HWM)
    sed -n "s/^Vm$1:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$server/status"
}

counted() { # NAME: of the last line of what was printed
    tail -n 1 "$work/pressed" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

start
get /api/v1/run
little=$(resident RSS)
grows_little "100 bodies that are held" "$press" "$port" held 100
[ "$(counted later)" -gt 0 ] || { echo "nobody was told to come later"; failed=1; }
grows_little "a body of braces" "$press" "$port" braces 1
check "the body of braces" "$(counted 4xx)" 1
grows_little "twelve bodies of braces" "$press" "$port" braces 12
check "bodies of braces" "$(counted 4xx)" 12
grows_little "subscribers that never read" "$press" "$port" streams 1000

# Answers of 7 MB that nobody reads: of 200 MB, or 500, the server keeps 128 at once.
if [ -z "$is_sanitized" ]; then
    "$SNAG" analyze 'synth:100000*step(a@1ms);jitter=0.1' --foi step -o "$work/long.snag" --quiet >/dev/null
    stop
    serving=(serve "$work/long.snag")
    start
    get /api/v1/run
    little=$(resident RSS)
    most=262144
    n=${is_long:+70}
    grows_little "${n:=28} answers that nobody reads" "$press" "$port" unread $n '/api/v1/executions.csv?foi=1'
    stop
    serving=(serve "$run")
    start
fi

# It ends, whatever they are at.
mkfifo "$work/hold"
"$press" "$port" all 120 <"$work/hold" >"$work/held" &
holder=$!
exec 9>"$work/hold"
for ((i = 0; i < 1200; i++)); do
    [ -s "$work/held" ] && break
    sleep 0.05
done
stop
exec 9>&-
wait $holder

# With few files there are few slots: whoever waited longest makes room. (Those who are slow without
# need are let go of in time: http/limits.)
limit=$(ulimit -Hn)
(ulimit -n 320; "$SNAG" serve "$run" --port 0 >"$work/few" 2>"$work/errors" & echo $! >"$work/pid"; wait)  &
waiting=$!
for ((i = 0; i < 600; i++)); do
    url=$(head -n 1 "$work/few" 2>/dev/null)
    [ -n "$url" ] && break
    sleep 0.05
done
port=${url#*://*:}
port=${port%%/*}
server=$(cat "$work/pid")
for what in heads bodies; do
    "$press" "$port" $what 250 || { echo "$what on few slots"; failed=1; }
done
"$press" "$port" streams 300 >/dev/null || { echo "streams on few slots"; failed=1; }
"$press" "$port" held 300 >/dev/null || { echo "bodies held on few slots"; failed=1; }
kill -TERM $server
wait $waiting
server=
check "what stands on stderr" "$(cat "$work/errors")" ""
exit $failed
