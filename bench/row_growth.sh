#!/usr/bin/env bash
# How the time of snag analyze grows: traces of our own tracer of a program of small functions
# (many_calls.c), on one thread and on two of OpenMP, and of 64 ranks (a sentence). Each is four
# times as long as the one before, up to BENCH_CALLS / 2.5 calls. Times of so much memory say as much of
# the machine as of the program, so instructions are counted, too, where that does not take hours.
set -euo pipefail
. "$source/bench/lib.sh"

longest=${BENCH_CALLS:-100000000}
longest=$((longest * 2 / 5))
times=$WORK/growth-times
compiler=${CC:-cc}
command -v "$compiler" >/dev/null || {
    printf '\nnot measured: there is no C compiler to build the program with\n'
    exit 0
}

# many THREADS CALLS: the directory of a trace of so many calls, recorded when it is not there.
many() {
    local program=$WORK/many_calls-$1 trace=$WORK/many_calls-$1-$2 options=()
    [ "$1" -eq 1 ] || options=(-fopenmp)
    if [ ! -r "$trace/traces.otf2" ]; then
        say "recording $2 calls on $1 thread(s)"
        "$compiler" -O1 -finstrument-functions -Wno-unknown-pragmas "${options[@]}" \
            "$source/bench/many_calls.c" -o "$program"
        rm -rf "$trace"
        OMP_NUM_THREADS=$1 "$snag" record -o "$trace" -- "$program" "$2" >/dev/null 2>"$WORK/record.log"
    fi
    printf '%s\n' "$trace"
}

ranks() {
    printf 'synth:%d*step@20us(10*phase@2us(20*kernel@1us(4*leaf@200ns)) 10*exchange(>1 <1));ranks=64;jitter=0.1' \
        $(($1 / (64 * 1041) + 1))
}

# instructions TRACE CALLS: how many a call of the trace takes, of all processes; - without valgrind, and of
# the longest trace.
instructions() {
    [ "$2" -lt "$longest" ] && command -v valgrind >/dev/null || { echo -; return; }
    say "counting instructions of $2 calls"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$snag" analyze --threads 1 --foi step "$1" \
        -o "$WORK/growth.snag" --force -q 2>&1 >/dev/null |
        awk -v calls="$2" '/Collected/ { n += $NF } END { printf "%.0f", n / calls }'
}

# row WHAT TRACE CALLS: a line of the table; processor time stays in $before.
row() {
    local log=$times/log cpu=() peak i
    for ((i = 0; i < repetitions && i < 3; i++)); do
        "$tools/measure" "$snag" analyze --threads 1 --foi step "$2" -o "$WORK/growth.snag" --force -q \
            >/dev/null 2>"$log" || [ $? -eq 3 ]
        cpu+=("$(grep '^measure:' "$log" | field cpu_s)")
    done
    peak=$(grep '^measure:' "$log" | field peak_bytes)
    printf '%s\n' "${cpu[@]}" >"$times/cpu"
    cpu=$(smallest "$times/cpu")
    printf '| %s | %s | %s s | %s | %s MiB | %s | %s |\n' "$1" "$3" "$(calc "$cpu")" \
        "$([ -z "$before" ] && echo - || calc "$cpu / $before" %.1f)" \
        "$(calc "$peak / 1048576" %.0f)" "$(calc "$peak / $3" %.0f)" "$(instructions "$2" "$3")"
    before=$cpu
    rm -rf "$WORK/growth.snag"
}

rm -rf "$times"
mkdir -p "$times"
printf '\nProcessor time, the least of up to three, one thread; the target is 4.5 times for four times the calls.\n\n'
echo '| | calls | processor | times the one before | peak, resident | bytes a call | instructions a call |'
echo '|---|---|---|---|---|---|---|'
for what in 'our tracer, one thread' 'our tracer, two threads of OpenMP' '64 ranks'; do
    before=
    for calls in $((longest / 16)) $((longest / 4)) "$longest"; do
        case $what in
        *one*) row "$what" "$(many 1 "$calls")" "$calls" ;;
        *two*) row "$what" "$(many 2 "$calls")" "$calls" ;;
        *) row "$what" "$(ranks "$calls")" "$calls" ;;
        esac
    done
done
