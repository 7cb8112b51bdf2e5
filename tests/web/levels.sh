#!/usr/bin/env bash
# The levels of detail are made when a run is first served, and kept if they may be. A run without
# them, or with damaged ones, is served as one with them.
#
#   levels.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
calls=$run/calls

sums() { # -> $sum: what some windows look like
    sum=
    for query in 'width=200' 'begin=1000000&end=90000000&width=64' 'width=1000&most=40'; do
        get "/api/v1/timeline?$query"
        check "$query" "$status" 200
        sum+=$(cksum <"$body")\ 
    done
}
await() { # until the files are as they were made first
    for ((i = 0; i < 600; i++)); do
        cmp -s "$calls/levels.index" "$work/index" && cmp -s "$calls/levels.rec" "$work/rec" && return
        sleep 0.05
    done
    echo "$1: the levels are not made anew"
    failed=1
}

start
sums
for ((i = 0; i < 600; i++)); do
    [ -e "$calls/levels.index" ] && break
    sleep 0.05
done
stop
cp "$calls/levels.index" "$work/index"
cp "$calls/levels.rec" "$work/rec"
start
sums
first=$sum
stop

# what makes the run makes the same, if it is told to
for threads in 1 2; do
    "$SNAG" analyze "$trace" --foi "$foi" --threads $threads --levels-from 1 -o "$work/made$threads.snag" >/dev/null
    for what in index rec; do
        cmp "$work/made$threads.snag/calls/levels.$what" "$work/$what" || failed=1
    done
done
"$SNAG" analyze "$trace" --foi "$foi" -o "$work/short.snag" >/dev/null
[ ! -e "$work/short.snag/calls/levels.index" ] || { echo "levels of a short run"; failed=1; }

rm "$calls"/levels.*
start
await "without"
sums
check "windows of a run that had none" "$sum" "$first"
stop

for damage in 100 0 byte; do
    cp "$work/index" "$calls/levels.index"
    case $damage in
    byte) printf '\377' | dd bs=1 seek=90 conv=notrunc status=none of="$calls/levels.index" ;;
    *) truncate -s $damage "$calls/levels.index" ;;
    esac
    start
    await "damage $damage"
    sums
    check "windows of a run whose levels were damaged ($damage)" "$sum" "$first"
    stop
done

# Where they cannot be kept they are in memory: here a directory that is not empty is in the way.
rm "$calls"/levels.*
mkdir -p "$calls/levels.rec/full"
start
for ((i = 0; i < 600; i++)); do
    sums
    [ "$sum" = "$first" ] && break
    sleep 0.05
done
check "windows of a run that cannot keep them" "$sum" "$first"
stop
check "files in it" "$(ls "$calls" | grep levels)" levels.rec
exit $failed
