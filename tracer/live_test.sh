#!/bin/bash
# live_test.sh TRACER MD OVERHEAD STREAM_COUNTS SNAG -- live output, from running programs to a reader:
#
#   whole   what the reader was told is what the archive of the same run holds
#   late    the reader comes when the program is half-way, and there is no archive
#   slow    the reader is too slow: frames are dropped and counted, and enters still match leaves
#   killed  a rank is killed with what it was about to say
#   second  another program comes to the same socket: it says that it is not recorded, once
#
# Exit status 77: something it needs is not installed.
set -eu

tracer=$1 md=$2 overhead=$3 stream_counts=$4 snag=$5
run_mpi=$(dirname "$(realpath "$0")")/../examples/run_mpi.sh
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
dir=$(mktemp -d)
reader=
program=
second=
trap 'kill $reader $program $second 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
export SNAG_TRACER_LIVE=$dir/socket SNAG_TRACER_RANKS=$dir/ranks TRACER=$tracer

fail() {
    echo "$*"
    cat "$dir/counts" "$dir/said"
    exit 1
}

# read_stream [PAUSE_MS] -- in the background, from the socket to $dir/counts.
read_stream() {
    "$stream_counts" "tracer:$dir/socket" "$@" >"$dir/counts" 2>"$dir/said" &
    reader=$!
}

wait_for_socket() {
    while [ ! -S "$dir/socket" ]; do sleep 0.02; done
}

# begin COMMAND...: starts md in the background, for as long as $dir/until is not there; returns
# when it has been at it for some steps.
begin() {
    rm -f "$dir/ranks" "$dir/until" "$dir/steps"
    "$@" --until "$dir/until" --output "$dir/steps" --write 10 --particles 500 >/dev/null 2>&1 &
    program=$!
    while [ ! -s "$dir/steps" ]; do
        kill -0 "$program" 2>/dev/null || fail "the program has ended"
        sleep 0.02
    done
}

# end WHAT: the program that was begun
end() {
    touch "$dir/until"
    wait "$program" || fail "$1: the program failed"
    program=
}

# Until the reader was told something.
wait_for_step() {
    until grep -q 'the first step' "$dir/said"; do sleep 0.02; done
}

wait_for_reader() {
    wait "$reader" || fail "the reader failed"
    reader=
}

# of NAME -- the number behind it, 0 if it is not there.
of() {
    awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }' "$dir/counts"
}

need() {
    [ "$2" "$3" "$4" ] || fail "$1: not $2 $3 $4"
}

for structure in stacks functions; do
    read_stream
    wait_for_socket
    SNAG_TRACER_STRUCTURE=$structure SNAG_TRACER_DIR=$dir/$structure \
        "$run_mpi" 2 "$md" --steps 60 --particles 500 --pace 20 >/dev/null
    wait_for_reader
    "$snag" info "$dir/$structure" --json >"$dir/info"
    jq -r '"sent \(.sends)", "received \(.recvs)", "collectives \(.collectives)", "estimates \(.estimated.n)"' \
        "$dir/info" >"$dir/want"
    jq -r '.regions[] | select(.name | startswith("BUFFER_FLUSH") | not) | "calls \(.name) \(.calls)"' "$dir/info" | sort >>"$dir/want"
    grep -E '^(sent|received|collectives|estimates) ' "$dir/counts" >"$dir/got"
    grep '^calls ' "$dir/counts" | grep -v ' 0$' | sort >>"$dir/got"
    diff "$dir/want" "$dir/got" || fail "whole: of $structure the archive and the stream differ"
done
need whole "$(of open)" -eq 0
need whole "$(of lost)" -eq 0
need whole "$(of ranks)" -eq 2
need whole "$(grep -c '^host ' "$dir/counts")" -eq 2
need whole "$(of counters)" -ge 4
[ ! -e "$dir/socket" ] || fail "whole: the socket stays"

export SNAG_TRACER_ARCHIVE=0 SNAG_TRACER_DIR=$dir/none
begin "$run_mpi" 2 "$md" --pace 5
read_stream
until [ "$(grep -c "$dir/socket" /proc/net/unix)" -ge 3 ]; do sleep 0.02; done # it and two ranks
wait_for_step
end late
wait_for_reader
need late "$(of open)" -eq 0
need late "$(of lost)" -gt 0
need late "$(of unmatched_leave)" -eq 0
need late "$(of missing_leave)" -eq 0
need late "$(awk '$2 == "main" { print $3 }' "$dir/counts")" -eq 2
[ ! -e "$dir/none" ] || fail "late: there is an archive"

read_stream 300
wait_for_socket
SNAG_TRACER_LIVE_KB=64 "$run_mpi" 1 "$overhead" --measure >/dev/null
wait_for_reader
need slow "$(of open)" -eq 0
need slow "$(of lost)" -gt 100000
need slow "$(of lost)" -lt 7000000
need slow "$(of unmatched_leave)" -eq 0
need slow "$(of missing_leave)" -eq 0

read_stream
wait_for_socket
begin env LD_PRELOAD="$tracer" "$md"
wait_for_step
kill -KILL "$program"
wait "$program" 2>/dev/null || true
program=
wait_for_reader
need killed "$(of truncated)" -eq 1
need killed "$(of open)" -gt 0

read_stream
wait_for_socket
begin env LD_PRELOAD="$tracer" "$md"
wait_for_step
LD_PRELOAD=$tracer "$md" --until "$dir/heard" --particles 500 >/dev/null 2>"$dir/second" &
second=$!
while [ ! -s "$dir/second" ]; do
    kill -0 "$second" 2>/dev/null || fail "second: it ended and said nothing"
    sleep 0.02
done
touch "$dir/heard"
wait "$second" || fail "second: the second program failed"
second=
end second
wait_for_reader
[ "$(grep -c '^snag-tracer: ' "$dir/second")" -eq 1 ] && grep -q 'not recorded at .*one program at a time' "$dir/second" ||
    fail "second: it says '$(cat "$dir/second")'"
need second "$(grep -c 'is not listened to at' "$dir/said")" -eq 1
need second "$(of ranks)" -eq 1
need second "$(of open)" -eq 0
need second "$(of bad_record)" -eq 0
echo "the reader was told what the archive holds, late, slow or killed, and of one program at a time"
