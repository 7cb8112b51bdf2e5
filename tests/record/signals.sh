#!/usr/bin/env bash
# However a program is ended, all of its ranks have a trace, with every call that they made: the
# signal goes to one rank, to the launcher, to snag record, to the whole group, or comes from
# timeout; with SIGKILL too. What is then there is right by otf2-print.
#
#   signals.sh SNAG DIRECTORY-OF-THE-TRACERS
#
# SNAG_SIGNALS  how many tries, from SNAG_SIGNAL_FIRST on; if it does not say, one of each signal. Each is
# the same every time, but for when the signal comes.
snag=$1 tracers=$2 first=${SNAG_SIGNAL_FIRST:-0}
tries=(1 5 7 11)
[ -z "${SNAG_SIGNALS:-}" ] || tries=($(seq $first $((first + SNAG_SIGNALS - 1))))
. "$(dirname "$0")/mpi/lib.sh" || exit
for tool in jq otf2-print setsid; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
mpicc.${mpis[0]} --version >/dev/null
for mpi in "${mpis[@]}"; do
    mpicc.$mpi -std=gnu11 -D_GNU_SOURCE -O1 -finstrument-functions -DWITH_MPI -o signalled.$mpi "$sources/../signalled.c"
done
cc -std=gnu11 -D_GNU_SOURCE -O1 -finstrument-functions -o signalled.serial "$sources/../signalled.c"

# counted FIELD -- of each rank: 1 is its process, 2 how many calls have returned
counted() {
    od -A n -t u8 -v counts | awk -v field=$1 -v ranks=$ranks 'NR <= ranks { print $field }'
}

# Until all have made some calls, and a while more.
wait_for_calls() {
    local tries=0
    until [ -s counts ] && [ -z "$(counted 2 | grep -x 0)" ]; do
        [ $((tries += 1)) -lt 3000 ] && kill -0 $record 2>/dev/null || return 1
        sleep 0.02
    done
    sleep 0.$((RANDOM % 9))$((RANDOM % 10))
}

wait_for_ends() {
    local pid
    for pid in $(counted 1); do
        while kill -0 $pid 2>/dev/null; do sleep 0.01; done
    done
}

# children PID -- those of it, and so on
children() {
    local child
    for child in $(pgrep -P $1); do
        echo $child
        children $child
    done
}

launcher_of() { # the first that is no snag
    local pid
    for pid in $(children $record); do
        [ "$(ps -o comm= -p $pid)" = snag ] || { echo $pid; return; }
    done
}

# send -- the signal, to whom it goes
send() {
    case $to in
    rank) kill -$signal $(counted 1 | sed -n $((RANDOM % ranks + 1))p) ;;
    launcher) kill -$signal $(launcher_of) ;;
    record) kill -$signal $record ;;
    group) kill -$signal -- -$record ;;
    timeout) kill -ALRM $record ;; # its time is over
    esac
}

# pick NUMBER -- what is tried: mpi, ranks, rate (calls a second of each), signal, to.
pick() {
    local all=(serial "${mpis[@]}") signals=(INT TERM HUP KILL) places=(rank launcher record group timeout)

    RANDOM=$(($1 % 32749 + 1))
    mpi=${all[$1 % ${#all[@]}]}
    signal=${signals[$1 / ${#all[@]} % 4]}
    to=${places[$((RANDOM % 5))]}
    ranks=$((RANDOM % 2 ? 2 : 8))
    [ $mpi != serial ] || ranks=1
    [ $mpi != serial ] || [ $to != launcher ] || to=rank
    case $((RANDOM % 3)) in 0) rate=50000 ;; 1) rate=250000 ;; 2) rate=1000000 ;; esac
    [ -n "${SNAG_SIGNALS:-}" ] || rate=50000 # reading all that was written takes longest
}

# check -- what is in the trace; says what is wrong, and returns 1.
check() {
    local made kept rank n status=0

    "$snag" info --json trace >info 2>info.err || status=$?
    if [ $status != 0 ]; then
        echo "snag info ends with $status: $(cat info.err; jq -c .quality info)"
        return 1
    fi
    made=($(counted 2))
    kept=($(jq -r '[.location_table[].rank] | sort | .[]' info))
    [ ${#kept[@]} = $ranks ] || { echo "ranks ${kept[*]} of $ranks"; return 1; }
    # per rank the calls that are in the archive: one more may have begun
    (set -o pipefail; otf2-print trace/traces.otf2 2>print | awk '/^ENTER .*"counted"/ { n[$2]++ } END { for (i in n) print i, n[i] }' >calls) &&
        [ ! -s print ] || { echo "otf2-print: $(tail -n 3 print)"; return 1; }
    for ((rank = 0; rank < ranks; rank++)); do
        n=$(awk -v rank=$rank '$1 == rank { print $2 }' calls)
        [ "${n:-0}" -ge ${made[$rank]} ] && [ "${n:-0}" -le $((made[rank] + 1)) ] ||
            { echo "rank $rank has ${n:-no} calls, and made ${made[$rank]}"; return 1; }
    done
}

wrong=0
for i in ${tries[@]}; do
    pick $i
    rm -rf trace counts
    launch=() before=()
    [ $mpi = serial ] || launch=(mpirun.$mpi -n $ranks)
    [ $to != timeout ] || before=(timeout -s $signal 3600)
    env --default-signal=INT,QUIT setsid "${before[@]}" "$snag" record -o trace --functions -- "${launch[@]}" ./signalled.$mpi counts $rate 900 >out 2>err </dev/null &
    record=$!
    why=
    if wait_for_calls; then
        send
    else
        why='it did not begin; '
    fi
    status=0
    wait $record || status=$?
    wait_for_ends
    if ! why+=$(check); then
        wrong=$((wrong + 1))
        echo "$i: $mpi, $ranks ranks, $rate calls/s, $signal to $to: status $status: $why"
        cat err
    fi
    echo "$mpi $signal $to $ranks $([ -z "$why" ] && echo whole || echo wrong)" >>all
done
awk '{ n[$1 " " $2]++; whole[$1 " " $2] += $5 == "whole" } END {
    print "                tried  all there"
    for (i in n) printf "%-14s %6d %10d\n", i, n[i], whole[i]
}' all | sort
[ $wrong = 0 ] || exit 1
