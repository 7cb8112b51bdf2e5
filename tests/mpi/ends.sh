#!/usr/bin/env bash
# What goes wrong with one of several processes: one line says with which, and nothing is left.
#
#   ends.sh SNAG SAMPLE_ARCHIVE
set -eu
SNAG=$(realpath "$1") sample_archive=$(realpath "$2")
. "$(dirname "$0")/launchers.sh"

# Each launcher in turn where there is time; else one, and the other in nodes.sh.
[ -n "$is_long" ] || launchers=("${launchers[0]}")
small='synth:150*step(compute@1ms(a 3*b) >1 <1 |);ranks=7;jitter=0.2'

# A trace that process 1 never gets to the end of: what it would read is a pipe that nobody writes.
mkdir endless
"$sample_archive" endless
rm endless/traces/4294967296.evt
mkfifo endless/traces/4294967296.evt
endless=$PWD/endless
export SNAG_PATIENCE=100000

# After it: no run, nothing hidden. The one that sweeps up may still be at it.
expect_nothing() {
    local i
    for i in $(seq 600); do
        [ -z "$(ls -A here)" ] && return
        sleep 0.1
    done
    fail "$1: left: $(ls -A here)"
}

# expect_line WHAT TEXT: once, in one line of ours.
expect_line() {
    [ "$(grep -c "^snag: .*$2" out)" = 1 ] || fail "$1: does not say '$2' once: $(cat out)"
}

# The processes of snag under one: "PID RANK child|parent".
processes() {
    local pid kind
    for pid in $(pgrep -P $1); do
        if [ "$(readlink /proc/$pid/exe)" = "$(realpath "$SNAG")" ]; then
            kind=parent
            [ "$(readlink /proc/$1/exe)" != "$(realpath "$SNAG")" ] || kind=child
            # the cleaner holds no standard streams
            [ $kind = child ] && [ ! -e /proc/$pid/fd/2 ] && continue
            echo $pid $(tr '\0' '\n' </proc/$pid/environ | sed -n 's/^\(OMPI_COMM_WORLD\|PMI\)_RANK=//p') $kind
        fi
        processes $pid
    done
}

# killed KIND RANK child|parent: as soon as there are columns.
killed() {
    local kind=$1 rank=$2 which=$3 launcher victim what="$1: $3 of process $2 killed"
    mkdir here
    (cd here && exec $(launcher_of $kind) -n 3 "$SNAG" analyze --together "$endless" -o run --foi step) >out 2>&1 &
    launcher=$!
    while ! [ -e here/.run*/calls/enter_ns.u64 ]; do
        kill -0 $launcher || break
        sleep 0.02
    done
    victim=$(processes $launcher | sed -n "s/^\([0-9]*\) $rank $which\$/\1/p")
    [ -n "$victim" ] || fail "$what: there is none: $(processes $launcher)"
    kill -9 $victim
    wait $launcher && fail "$what: ends well"
    [ $which = parent ] || expect_line "$what" "process $rank of 3 (.*): the process that reads the trace was killed"
    expect_nothing "$what"
    rm -rf here
    echo "$what"
}

for kind in "${launchers[@]}"; do
    killed $kind 1 child
    killed $kind 0 child
    killed $kind 0 parent
done

# The same while they analyse together, which begins when process 0 says what reading took: then the
# run is there, or one line says who died and nothing is left.
for kind in "${launchers[@]}"; do
    for rank in 1 0; do
        what="$kind: child of process $rank killed in the analysis"
        mkdir here
        (cd here && exec $(launcher_of $kind) -n 3 "$SNAG" analyze --together "${small/150/40000}" -o run --foi step --foi b -v) >out 2>&1 &
        launcher=$!
        until grep -q 'reading took' out; do
            kill -0 $launcher || break
        done
        victim=$(processes $launcher | sed -n "s/^\([0-9]*\) $rank child\$/\1/p")
        [ -z "$victim" ] || kill -9 $victim || echo "too late"
        if wait $launcher; then
            [ "$(ls -A here)" = run ] || fail "$what: ends well, but there is $(ls -A here)"
        else
            expect_line "$what" "process $rank of 3 (.*): the process that reads the trace was killed"
            expect_nothing "$what"
        fi
        rm -rf here
        echo "$what"
    done
done

# What only one of them meets: "launch KIND 1 A : -n 2 B".
fails() {
    local what=$1 status=0
    shift
    mkdir here
    (cd here && "$@") >out 2>&1 || status=$?
    [ $status -ne 0 ] || fail "$what: ends well"
    expect_nothing "$what"
    rm -rf here
}

# Another build: a copy whose number the linker might have made.
mkdir -p other/mpi
cp "$SNAG" other/snag
cp "$(dirname "$SNAG")"/mpi/*.so other/mpi/
offset=$(readelf -SW "$SNAG" | sed -n 's/.*note\.gnu\.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\).*/\1/p')
[ -n "$offset" ] || fail "no number of this build"
printf 'other' | dd of=other/snag bs=1 seek=$((16#$offset + 20)) conv=notrunc status=none
# Room for what an MPI needs itself, not for a column of 8 bytes for each of 1.26 million calls.
big=${small/150/20000}
full="ulimit -f 6000; exec \"$SNAG\" \"\$@\""

for kind in "${launchers[@]}"; do
    words=(analyze --together "$small" -o run --foi step --quiet)
    fails "$kind: another build" launch $kind 1 "$SNAG" "${words[@]}" : -n 1 "$PWD/other/snag" "${words[@]}"
    expect_line "$kind" "process 1 of 2 runs another build of snag"

    fails "$kind: another task" launch $kind 1 "$SNAG" "${words[@]}" : -n 1 "$SNAG" "${words[@]}" --foi b
    expect_line "$kind" "process 1 of 2 (.*) has other arguments than process 0"

    words[2]=$big
    fails "$kind: full for one" launch $kind 1 "$SNAG" "${words[@]}" : -n 2 bash -c "$full" snag "${words[@]}"
    expect_line "$kind" "process [12] of 3 (.*): cannot write .*File too large"

    words[2]=${small/150/6000} # columns of 3 MB, a database of 20: found by process 0, while the others wait
    fails "$kind: full for process 0" launch $kind 1 bash -c "$full" snag "${words[@]}" : -n 2 "$SNAG" "${words[@]}"
    expect_line "$kind" "cannot write the run.s database"

    words[2]=$PWD/nothing.otf2
    fails "$kind: no trace" launch $kind 3 "$SNAG" "${words[@]}"
    expect_line "$kind" "process 0 of 3 (.*): .*nothing.otf2"
    echo "$kind: another build, another task, full for one, no trace"
done

# An error that one of them finds before they meet: the other would wait for it at the meeting.
for kind in "${launchers[@]}"; do
    mkdir -p here/run
    touch here/run/file
    (cd here && launch $kind 2 "$SNAG" analyze --together "$small" -o run --quiet) >out 2>&1 && fail "$kind: replaced what is no run"
    expect_line "$kind" "process 0 of 2 (.*): exists and is not a run"
    [ "$(ls -A here)" = run ] || fail "$kind: left beside what is no run: $(ls -A here)"
    rm -rf here

    "$SNAG" analyze "$small" -o learnt --foi step --force --quiet >learnt.out
    "$SNAG" model save learnt here.model >model.out
    words=(score --together "$small" --model ../here.model -o run --quiet)
    mkdir -p nowhere/else
    fails "$kind: no model for one" launch $kind 1 "$SNAG" "${words[@]}" : -n 1 bash -c "cd ../nowhere/else; exec \"$SNAG\" \"\$@\"" snag "${words[@]}"
    expect_line "$kind" "process 1 of 2 (.*): .*here.model"
    echo "$kind: no run, no model for one"
done

# One that dies before they meet: the library it would meet the others by is a pipe that nobody
# writes. With Open MPI the others have been ended too; but mpirun 4.1 itself, which waits for a
# lock of PMIx that it holds, may not end if one dies while another is connecting to it.
for kind in "${launchers[@]}"; do
    [ $kind = mpich ] || continue
    mkdir -p lame/mpi here
    cp "$SNAG" lame/snag
    mkfifo lame/mpi/libsnag-mpich.so
    words=(analyze --together "$small" -o run --quiet)
    (cd here && exec $(launcher_of $kind) -n 2 "$SNAG" "${words[@]}" : -n 1 "$PWD/../lame/snag" "${words[@]}") >out 2>&1 &
    launcher=$!
    victim=
    while [ -z "$victim" ] && kill -0 $launcher; do
        victim=$(SNAG=$PWD/lame/snag processes $launcher | sed -n "s/^\([0-9]*\) 2 child\$/\1/p")
    done
    kill -9 $victim
    wait $launcher && fail "$kind: killed before they meet: ends well"
    expect_line "$kind" "process 2 of 3 (.*): the process that reads the trace was killed"
    expect_nothing "$kind: killed before they meet"
    rm -rf here
    echo "$kind: killed before they meet"
done
finish
