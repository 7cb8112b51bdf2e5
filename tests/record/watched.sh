#!/usr/bin/env bash
# A page beside the program: what it could not read in time is said, by the tracer and by snag; and
# of a snag record that is killed outright nothing stays.
#
#   watched.sh SNAG SOURCES
snag=$1 sources=$2
. "$(dirname "$0")/../support/own_directory.sh"
for tool in jq curl pgrep; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
cc -std=gnu11 -D_GNU_SOURCE -w -O1 -finstrument-functions -o odd "$sources/odd.c" -pthread -ldl
export TMPDIR=$(mktemp -d /tmp/watched-XXXXXX) # paths of sockets are short
trap 'rm -rf "$dir" "$TMPDIR"' EXIT

fail() {
    echo "$*"
    cat err
    exit 1
}

# watched ARGUMENTS... -- a program that waits for the file go; $recorder is snag record, and the
# page is there.
watched() {
    rm -f go
    "$snag" record --watch --functions "$@" sh -c 'until [ -e go ]; do sleep 0.02; done; exec ./odd cancel' >out 2>err </dev/null &
    recorder=$!
    until [ -S "$TMPDIR"/snag-*/socket ] && pgrep -P $recorder -x sh >/dev/null; do
        kill -0 $recorder || fail "it does not begin"
        sleep 0.02
    done
}

# Until $reader listens.
wait_for_socket() {
    until [ -S socket ]; do
        kill -0 $reader || fail "nobody listens: $(cat told)"
        sleep 0.02
    done
}

# the page stands still while the program runs
SNAG_TRACER_LIVE_KB=64 watched --once -o lossy
mapfile -t snags < <(pgrep -P $recorder -x snag)
kill -STOP "${snags[@]}"
touch go
until grep -q 'next: snag analyze lossy' err; do
    kill -0 $recorder || fail "it does not end"
    sleep 0.05
done
kill -CONT "${snags[@]}" 2>/dev/null || true
status=0
wait $recorder || status=$?
[ $status = 6 ] || fail "status $status is not the program's"
lost=$(sed -n 's/^snag-tracer: rank 0: \([0-9]*\) of [0-9]* events were lost on their way .*/\1/p' err)
[ "${lost:-0}" -gt 0 ] || fail "the tracer does not say what was lost"
[ "$(sed -n 's/^\([0-9,]*\) events did not reach this process: .*/\1/p' err | tr -d ,)" = "$lost" ] || fail "snag does not say that $lost events were lost"
"$snag" info lossy --json | jq -e '.is_damaged | not' >/dev/null || fail "the archive has not all"

# the same by snag watch alone: its exit status says it, and a line why
status=0
"$snag" watch --once tracer:socket --store none.store >told 2>&1 &
reader=$!
wait_for_socket
kill -STOP $reader
SNAG_TRACER_LIVE_KB=64 "$snag" record --live socket --functions ./odd cancel >out 2>err || [ $? = 6 ]
kill -CONT $reader
wait $reader || status=$?
[ $status = 3 ] && grep -q 'events did not reach this process' told || fail "status $status: $(cat told)"

# a reader that never goes on: what it was not sent is lost, too
"$snag" ad tracer:socket --json >told 2>&1 &
reader=$!
wait_for_socket
kill -STOP $reader $(pgrep -P $reader)
"$snag" record --live socket --functions ./odd cancel >out 2>err || [ $? = 6 ]
kill -CONT $reader $(pgrep -P $reader)
status=0
wait $reader || status=$?
read -r lost all < <(sed -n 's/^snag-tracer: rank 0: \([0-9]*\) of \([0-9]*\) events were lost on their way .*/\1 \2/p' err)
[ $status = 3 ] && grep -q 'gone without a goodbye' told || fail "status $status: $(cat told)"
counters=$((all - ${lost:-0} - $(sed -n '/^{/,$p' told | jq .events))) # they are sent as events are
[ "${lost:-0}" -gt 0 ] && [ $counters -ge 0 ] && [ $counters -lt 1000 ] || fail "lost $lost of $all, read $(cat told)"

# a page whose snag record is killed
watched -o killed
mapfile -t snags < <(pgrep -P $recorder -x snag)
kill -KILL $recorder
wait $recorder 2>/dev/null || true
for pid in "${snags[@]}"; do
    tries=0
    while kill -0 $pid 2>/dev/null; do
        [ $((tries += 1)) -lt 1500 ] || fail "process $pid stays: $(ps -o args= -p $pid)"
        sleep 0.02
    done
done
[ -z "$(ls "$TMPDIR")" ] || fail "the socket stays"
touch go # the program goes on, and its trace can be read when it is over
until "$snag" info killed >told 2>&1; do
    grep -q 'still records\|no such trace\|no trace in directory\|nothing was recorded' told || fail "its trace: $(cat told)"
    sleep 0.05
done
echo "watched: what is lost is said, and nothing stays"

# without --foi it looks at what suggests itself, from the begin, under the numbers of after the run
cat >steps.c <<'C'
#include <time.h>
static void wait_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, 0);
}
static void work(void)
{
    wait_ms(2);
}
static void step(int i)
{
    work();
    work();
    if (i % 97 == 96)
        wait_ms(60);
}
int main(void)
{
    for (int i = 0; i < 900; i++)
        step(i);
    return 0;
}
C
cc -std=gnu11 -O0 -g -finstrument-functions -o steps steps.c
"$snag" record --watch --once --functions --store kept -o guessed -- ./steps >out 2>err </dev/null || fail "steps: status $?"
grep -q "no --foi given; looking at 'step': " err || fail "no function suggested itself"
"$snag" provdb filter kept "func = 'step'" >records || fail "the store cannot be read"
jq -r ".execution.id // empty" records >found
for n in 96 193 290 387 484 581 678 775 872; do # the first before it was known what to look at
    grep -qx "#0-$n" found || fail "#0-$n is not in the store"
done
# what it cost is known if the function was while what is needed for that was still there
jq -se 'map(select(.execution.id == "#0-96")) | .[0] | (.cost_ns == null or (.cost_ns > 4e7 and .cost_ns < 1e9)) and (.event_window.exec_window | map(.func)) == ["step", "work", "wait_ms", "work", "wait_ms", "wait_ms"]' records >/dev/null ||
    fail "the record of #0-96 has not its calls, or another cost"

# nor with functions from stacks, of two ranks one of which sleeps now and then: where a step begins is an estimate then,
# so what it lost may be in the one before
cc=$(command -v mpicc.openmpi) && launcher=$(command -v mpirun.openmpi) || { echo "the same of stacks: there is no Open MPI"; exit; }
cat >talk.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
static void wait_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, 0);
}
static volatile int n_done;
__attribute__((noinline)) static void step(int rank, int i)
{
    wait_ms(3);
    if (rank == 1 && i % 97 == 96)
        wait_ms(400);
    MPI_Barrier(MPI_COMM_WORLD);
    n_done++;
}
int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double longest_ms = 0; /* of steps in which nobody sleeps */
    for (int i = 0; i < 500; i++) {
        double began_ms = now_ms();
        step(rank, i);
        if (i > 0 && i % 97 != 96 && now_ms() - began_ms > longest_ms)
            longest_ms = now_ms() - began_ms;
    }
    MPI_Allreduce(MPI_IN_PLACE, &longest_ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(fopen("longest", "w"), "%.0f\n", longest_ms);
    MPI_Finalize();
    return 0;
}
C
"$cc" -std=gnu11 -O1 -o talk talk.c
"$snag" record --watch --once --stacks --store talks -o talked -- "$launcher" --oversubscribe -n 2 ./talk >out 2>err </dev/null || fail "talk: status $?"
grep -q "no --foi given; looking at 'step': " err || fail "no function from stacks suggested itself"
"$snag" provdb filter talks "func = 'step'" | jq -r ".execution.id // empty" >found
# where the machine holds other steps up for as long, a sleep is nothing strange
stops='96 193 290 387 484'
[ "$(cat longest)" -lt 100 ] || { echo "sleeps are not looked for: another step took $(cat longest) ms"; stops=; }
for n in $stops; do
    grep -qE "^#1-($((n - 1))|$n)\$" found || fail "neither #1-$((n - 1)) nor #1-$n is in the store: $(tr '\n' ' ' <found)"
done
