#!/usr/bin/env bash
# Any number of processes makes the run that one makes, to the byte, and prints the same; only when it
# was made differs.
#
#   same.sh SNAG SAMPLE_ARCHIVE PROCESSES...
#
# Each case is tried with the next library of MPI and the next number of processes. SNAG_LONG=1: with every
# library and every number.
set -eu
SNAG=$(realpath "$1") sample_archive=$(realpath "$2")
processes=("${@:3}")
. "$(dirname "$0")/launchers.sh"

without_dates() {
    sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/DATE/' "$1"
}

# combine: what this case is tried with, "KIND N" a line, most processes last
case=0
combine() {
    local at=$((case + case / ${#launchers[@]})) kind n
    for kind in "${launchers[@]}"; do
        [ -n "$is_long" ] || [ $kind = ${launchers[case % ${#launchers[@]}]} ] || continue
        for n in "${processes[@]}"; do
            [ -z "$is_long" ] && [ $n != ${processes[at % ${#processes[@]}]} ] || echo $kind $n
        done
    done | sort -n -k 2
}

# same COMMAND ARGS...: alone, then as so many processes of an MPI. With shared=yes they must
# have analysed it together.
shared=no
same() {
    local command=$1 kind n status got combinations
    shift
    combinations=$(combine)
    case=$((case + 1))
    set -- "$@" -v
    rm -rf one
    mkdir one
    status=0
    (cd one && "$SNAG" $command "$@" >out 2>err) || status=$?
    while read -r kind n; do
        rm -rf many
        mkdir many
        got=0
        (cd many && launch $kind $n "$SNAG" $command --together "$@" >out 2>err </dev/null) || got=$?
        [ $got -eq $status ] || fail "$kind $n: exit status $got, alone $status"
        cmp one/out many/out || fail "$kind $n: prints something else"
        if [ $n -gt 1 ]; then
            got=no
            ! expect_shared many/err $n || got=yes
            [ $got = $shared ] || fail "$kind $n: analysed together: $got: $(cat many/err)"
        fi
        [ -d one/run ] || continue
        diff -r one/run/calls many/run/calls || fail "$kind $n: other columns"
        without_dates one/run/run.db >one/db
        without_dates many/run/run.db >many/db
        cmp one/db many/db || fail "$kind $n: another run.db"
    done <<<"$combinations"
    [ -s one/out ] || fail "$command $*: $(cat one/err)"
    echo "$command ${1:0:300} ${*:2}: $(wc -l <one/out) lines, exit status $status, with" $combinations
}

shared=yes
# Seven ranks, no multiple of anything; clocks that disagree, so that times are moved on disk.
same analyze 'synth:150*step(compute@1ms(a 3*b) 2:io@300us >1 <1 |) 9*step(b) 40*step(compute@1ms(a 4*b) | c);ranks=7;jitter=0.2;slow=compute/15/10/2;skew=5ms;drift=10' --foi step -o run
# Teams of threads, and locations that are not alike.
same analyze 'synth:100*step(0:a@1ms 1:a@3ms 2:a@1ms work[b@50us 2*c] |) step(a@5s);ranks=3;threads=3;jitter=0.1' --foi step -o run
# Loops that locations agree on, and that become calls; two threads in each process.
export SNAG_MPI_ONLY=1
same analyze 'synth:MPI_Init MPI_Bcast 200*step(work@1ms >1 <1 |) MPI_Finalize;ranks=5;jitter=0.1' --foi loop --threads 2 -o run
unset SNAG_MPI_ONLY
# An archive of damaged files, and one that is only looked at.
mkdir trace
"$sample_archive" trace damaged
same analyze "$PWD/trace" --foi step --foi solve -o run
# Functions of interest that hold all of the run, that hold nothing, and that not all ranks call.
same analyze 'synth:main(60*step(compute@1ms(a 3*b) 2:io@300us(c) 3:io(c) 4:late(a b(c)) >1 <1 |) 20*step(5:io(b)));ranks=7;jitter=0.3' --foi main --foi b --foi io -o run
# Every execution is made of other calls.
same analyze "synth:$(for i in $(seq 40 120); do printf '2*step(%s*a %s*b(c) d@2ms) ' $((i % 7 + 1)) $((i % 11 + 1)); done);ranks=5;jitter=0.2" --foi step -o run
# Every fortieth execution does something by plan; some ranks have more to do than others.
same analyze "synth:$(for i in 1 2 3 4 5 6; do printf '39*step(0:d@1ms 1:d@3ms 2:d@2ms 3:d@1ms) step(0:d@1ms 1:d@3ms 2:d@2ms 3:d@1ms out(write)) '; done);ranks=4;jitter=0.05" --foi step -o run
# Counters and arguments of calls; one location has nothing else.
mkdir counted
"$sample_archive" counted counted
same analyze "$PWD/counted" --foi step -o run
# The model of another run: without labels, with them, by a limit of its own, and of what it has never seen.
"$SNAG" analyze 'synth:100*step(compute(a 3*b));ranks=3;jitter=0.2;slow=compute/15/10/2' --foi step -o learnt -q >/dev/null
"$SNAG" model save learnt step.model >/dev/null
same score 'synth:150*step(compute(a 3*b) c);ranks=5;jitter=0.2;slow=compute/15/10/2' --model "$PWD/step.model" -o run
same score "$PWD/trace" --model "$PWD/step.model" --false-alarms 20 -o run
# An execution that does not end is put first, though the strangest of all is another process's.
mkdir plain stopped
"$sample_archive" plain
"$sample_archive" stopped stopped
"$SNAG" analyze plain --foi step -o whole -q >/dev/null
"$SNAG" model save whole whole.model >/dev/null
same score "$PWD/stopped" --model "$PWD/whole.model" -o run
ids=($("$SNAG" list learnt --executions --top 12 --json | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p'))
"$SNAG" label learnt $(printf '%s=abnormal ' "${ids[@]:0:3}") $(printf '%s=normal ' "${ids[@]:4}") >/dev/null
"$SNAG" retrain learnt >/dev/null
"$SNAG" model save learnt labels.model >/dev/null
same score 'synth:150*step(compute(a 3*b));ranks=5;jitter=0.3;slow=compute/15/10/2' --model "$PWD/labels.model" --fail-on 0% -o run
# Runs against each other: each process reads a part of each run.
make_run() {
    "$SNAG" analyze "$2" --foi step -o $1.snag -q >/dev/null || [ $? = 3 ] # damaged
}
paths='compute@1ms(a 3*b) | io(c)'
make_run b1 "synth:100*step($paths) 30*step(compute(a));ranks=7;jitter=0.2;seed=1"
make_run b2 "synth:30*step(compute(a)) 100*step($paths);ranks=7;jitter=0.2;seed=2"
make_run new "synth:70*step(2:d $paths) 60*step(5:compute@3ms(a b(c)) io);ranks=7;threads=2;jitter=0.3;seed=3"
for format in json text markdown; do
    same compare -b "$PWD/b1.snag" -b "$PWD/b2.snag" "$PWD/new.snag" --all --verify --fail-on 1% --format $format
done
make_run a1 "$PWD/trace"
same compare "$PWD/a1.snag" "$PWD/new.snag" --rename a=c
"$SNAG" history add old.db b1.snag b2.snag >/dev/null
same compare --base "$PWD/old.db" "$PWD/new.snag" --format json
shared=no
# On one node the others only read.
unset SNAG_ASSIST
same analyze 'synth:100*step(compute@1ms(a 3*b) >1 <1 |);ranks=5;jitter=0.2' --foi step -o run
export SNAG_ASSIST=1
same info "$PWD/trace"
# A detector that compares all executions with each other is asked by process 0.
same analyze 'synth:100*step(compute@1ms(a 3*b) |);ranks=5;jitter=0.2' --foi step --detector lof -o run
# Histories are read by each; traces are dealt as wholes, and what they are is found on the way.
same compare "$PWD/old.db"
same compare 'synth:100*step(compute(a 3*b));ranks=3;jitter=0.2;seed=1' 'synth:100*step(compute(a 3*b));ranks=5;jitter=0.2;seed=4' --format json
set -- 'synth:90*step(compute@2ms(a 3*b));ranks=5;jitter=0.2;seed=9'
for seed in 1 2 3 4; do
    set -- "$@" --base "synth:100*step(compute@1ms(a 3*b));ranks=3;jitter=0.2;seed=$seed"
done
same compare "$@" --foi step --all --format json
[ $(grep -o 'is analysed by process [0-9]*' many/err | sort -u | wc -l) -ge 2 ] || fail "one process makes all: $(cat many/err)"
# What cannot be shared is read by one of them.
cat >trace.json <<'J'
[{"ph":"X","pid":0,"tid":0,"ts":1,"dur":9,"name":"a"},{"ph":"X","pid":1,"tid":0,"ts":2,"dur":9,"name":"a"},
 {"ph":"X","pid":0,"tid":0,"ts":20,"dur":9,"name":"a"},{"ph":"X","pid":1,"tid":0,"ts":21,"dur":9,"name":"a"}]
J
same analyze "$PWD/trace.json" --foi a -o run
grep -q 'read by process 0 alone' many/err || fail "nobody says that one reads alone: $(cat many/err)"
finish
