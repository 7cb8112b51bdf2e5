#!/usr/bin/env bash
# Several nodes: the processes on two or three of them make the run of one process, byte for byte, and all
# do a part; what goes wrong on another node ends in one line, with nothing half-written.
#
#   nodes.sh SNAG SAMPLE_ARCHIVE
#
# One library of MPI has two and eight processes, the other three, in turn. SNAG_LONG=1: each has each number.
set -eu
SNAG=$(realpath "$1") sample_archive=$(realpath "$2")
. "$(dirname "$0")/cluster.sh"

# ------------------------------------------------------------------------------- the same run

# By what -v says: as many processes on as many nodes as they should be.
expect_nodes() {
    local log=$1 n=$2 n_nodes=$3
    expect_shared $log $n || fail "$n on $n_nodes nodes: not analysed together: $(cat $log)"
    [ "$(sed -n 's/.*process [0-9]* of [0-9]* (\(node[0-9]\)): executions .*/\1/p' $log | sort -u | wc -l)" = $n_nodes ] ||
        fail "$n: not on $n_nodes nodes: $(cat $log)"
}

# numbers_for KIND: of processes, for this case
case=0
numbers_for() {
    if [ -n "$is_long" ]; then
        echo 2 3 8
    elif [ "$1" = "${launchers[case % ${#launchers[@]}]}" ]; then
        echo 2 8
    else
        echo 3
    fi
}

# same COMMAND ARGS...
same() {
    local command=$1 kind n hosts got status=0 before
    shift
    rm -rf one
    mkdir one
    (cd one && "$SNAG" $command "$@" -v >out 2>err) || status=$?
    [ -d one/run ] || fail "$command $*: $(cat one/err)"
    for kind in "${launchers[@]}"; do
        for n in $(numbers_for $kind); do
            hosts=node1,node2
            [ $n = 2 ] || hosts=node1,node2,node3
            rm -rf many
            mkdir many
            got=0 before=$(heard node2)
            (cd many && launch_on $kind $n $hosts "$SNAG" $command --together "$@" -v >out 2>err) || got=$?
            [ $got = $status ] || fail "$kind $n: exit status $got, alone $status: $(cat many/err)"
            cmp one/out many/out || fail "$kind $n: prints something else"
            diff -r one/run/calls many/run/calls || fail "$kind $n: other columns"
            without_dates one/run/run.db >one/db
            without_dates many/run/run.db >many/db
            cmp one/db many/db || fail "$kind $n: another run.db"
            expect_nodes many/err $n $((n == 2 ? 2 : 3))
            [ $(($(heard node2) - before)) -gt 20000 ] || fail "$kind $n: node2 was told $(($(heard node2) - before)) bytes"
        done
    done
    case=$((case + 1))
    echo "$command ${1:0:200}: $(wc -l <one/out) lines, exit status $status"
}

without_dates() {
    sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/DATE/' "$1"
}

same analyze 'synth:150*step(compute@1ms(a 3*b) 2:io@300us >1 <1 |) 9*step(b) 40*step(compute@1ms(a 4*b) | c);ranks=9;jitter=0.2;slow=compute/15/10/2;skew=5ms;drift=10' --foi step -o run
mkdir trace
"$sample_archive" trace damaged
same analyze "$work/trace" --foi step --foi solve -o run

# Runs against each other, and traces in place of runs: nothing of these is on a shared file system.
for seed in 1 2 3; do
    "$SNAG" analyze "synth:100*step(compute@1ms(a 3*b) | io(c));ranks=7;jitter=0.2;seed=$seed" --foi step -o $seed.snag -q >out
done
traces=()
for seed in 4 5 6 7; do
    traces+=("synth:100*step(compute@1ms(a 3*b) | io(c));ranks=5;jitter=0.2;seed=$seed")
done
# compared WHAT ARGS...
compared() {
    local what=$1 kind
    shift
    "$SNAG" compare "$@" --json >one.json
    for kind in "${launchers[@]}"; do
        for n in $(numbers_for $kind); do
            launch_on $kind $n node1,node2,node3 "$SNAG" compare --together "$@" --json -v >many.json 2>err || fail "$kind $n: $what: $(cat err)"
            cmp one.json many.json || fail "$kind $n: $what: something else"
        done
    done
    case=$((case + 1))
    echo "compare: $what"
}
compared runs -b "$work/1.snag" -b "$work/2.snag" "$work/3.snag"
expect_nodes err $n 3
compared traces -b "${traces[0]}" -b "${traces[1]}" -b "${traces[2]}" "${traces[3]}"
[ "$(grep -o 'is analysed by process [0-9]* of [38] (node[0-9])' err | grep -o 'node.' | sort -u | wc -l)" = 3 ] || fail "traces are not dealt to nodes: $(cat err)"
for kind in "${launchers[@]}"; do
    launch_on $kind 3 node1,node2,node3 "$SNAG" compare --together "$work/1.snag" "$work/none.snag" >out 2>&1 && fail "$kind: compares what is not there"
    [ "$(grep -c '^snag: .*none.snag' out)" = 1 ] || fail "$kind: does not say once what is not there: $(cat out)"
done

# ------------------------------------------------------------------------------- what goes wrong

small='synth:150*step(compute@1ms(a 3*b) >1 <1 |);ranks=7;jitter=0.2'

# After it: no run, nothing hidden, no process of snag on any node.
expect_nothing() {
    local i
    for i in $(seq 600); do
        [ -z "$(ls -A "${2:-here}")" ] && ! pgrep -x snag >/dev/null && return
        sleep 0.1
    done
    fail "$1: left: $(ls -A "${2:-here}") $(pgrep -ax snag)"
}

# expect_line WHAT TEXT: once, in one line of ours.
expect_line() {
    [ "$(grep -c "^snag: .*$2" out)" = 1 ] || fail "$1: does not say '$2' once: $(cat out)"
}

# A trace that the process of location 1 never gets to the end of.
mkdir endless
"$sample_archive" endless
rm endless/traces/4294967296.evt
mkfifo endless/traces/4294967296.evt

# killed KIND NODE RANK child|parent
killed() {
    local kind=$1 node=$2 rank=$3 which=$4 what="$1: $4 of process $3 killed on $2" launcher victim
    mkdir here
    (cd here && SNAG_PATIENCE=100000 launch_on $kind 3 node1,node2,node3 "$SNAG" analyze --together "$work/endless" -o run --foi step) >out 2>&1 &
    launcher=$!
    while ! [ -e here/.run*/calls/enter_ns.u64 ]; do
        kill -0 $launcher || break
        sleep 0.02
    done
    victim=$(everyone | sed -n "s/^\([0-9]*\) $rank $which\$/\1/p")
    [ -n "$victim" ] || fail "$what: there is none: $(everyone) $(cat out)"
    kill -9 $victim
    wait $launcher && fail "$what: ends well"
    [ $which = parent ] || expect_line "$what" "process $rank of 3 ($node): the process that reads the trace was killed"
    expect_nothing "$what"
    rm -rf here
    echo "$what"
}

for kind in "${launchers[@]}"; do
    killed $kind node2 1 child
    killed $kind node3 2 child
    killed $kind node2 1 parent
    killed $kind node1 0 child
done

# fails WHAT N NODES COMMAND...: in the directory "here"
fails() {
    local what=$1 kind=$2 status=0
    shift
    (cd here && launch_on "$@") >out 2>&1 || status=$?
    [ $status -ne 0 ] || fail "$what: ends well"
    expect_nothing "$what"
}

# Another build on the second node, under the same path.
mkdir other here
cp "$SNAG" other/snag
offset=$(readelf -SW "$SNAG" | sed -n 's/.*note\.gnu\.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\).*/\1/p')
[ -n "$offset" ] || fail "no number of this build"
printf 'other' | dd of=other/snag bs=1 seek=$((16#$offset + 20)) conv=notrunc status=none
echo "mount --bind $work/other/snag $SNAG" >node2.sh
for kind in "${launchers[@]}"; do
    fails "$kind: another build on node2" $kind 3 node1,node2,node3 "$SNAG" analyze --together "$small" -o run --quiet
    expect_line "$kind" "process 1 of 3 runs another build of snag"
    echo "$kind: another build on node2"
done
rm node2.sh

# A file system with room for some of the columns, and one with room for columns, but not for run.db.
mount -t tmpfs -o size=2m none here
for kind in "${launchers[@]}"; do
    fails "$kind: full" $kind 3 node1,node2,node3 "$SNAG" analyze --together "${small/150/6000}" -o run --foi step --quiet
    expect_line "$kind: full" "process [012] of 3 (node[123]): .*No space left on device"
    fails "$kind: full for run.db" $kind 3 node1,node2,node3 "$SNAG" analyze --together "${small/150/600}" -o run --foi step --quiet
    expect_line "$kind: full for run.db" "cannot write the run.s database"
    echo "$kind: full"
done
umount here

# A trace that one node does not have.
cp -r trace mine
echo "mount -t tmpfs none $work/mine" >node2.sh
for kind in "${launchers[@]}"; do
    fails "$kind: no trace on node2" $kind 2 node1,node2 "$SNAG" analyze --together "$work/mine" -o run --foi step --quiet
    expect_line "$kind: no trace on node2" "process 1 of 2 (node2): .*mine"
    echo "$kind: no trace on node2"
done
finish
