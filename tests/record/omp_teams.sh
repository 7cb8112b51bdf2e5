#!/usr/bin/env bash
# Programs of OpenMP, of each compiler that is there: what is recorded of their teams is what they
# say that they did, and they do what they do alone.
#
#   omp_teams.sh SNAG LIBRARIES SOURCES
set -eu
snag=$1 libraries=$2 source=$3
. "$(dirname "$0")/../support/own_directory.sh"
export OMP_NUM_THREADS=3 OMP_DYNAMIC=false
done=

fail() {
    echo "$*"
    cat alone said out 2>/dev/null
    exit 1
}

# build NAME COMPILER ARGUMENTS... -- false if there is no such compiler, or it knows no OpenMP
build() {
    local name=$1
    shift
    command -v "$1" >/dev/null && "$@" -fopenmp -o "$name" 2>compiler
}

# calls NAME... -- of constructs of these names
calls() {
    local name n=0
    for name; do
        n=$((n + $(grep -c "^ENTER .*\"!\\\$omp $name @" events || true)))
    done
    echo $n
}

# say WORD -- what the program says of it, all ranks together
say() {
    awk -v word="$1" '{ for (i = 1; i < NF; i++) if ($i == word) n += $(i + 1) } END { print n + 0 }' said
}

# read_trace TRACE -- finished, if it is not
read_trace() {
    "$snag" record --quiet --finish "$1"
    otf2-print -Werror --silent "$1/traces.otf2" >out 2>&1 || fail "$1 cannot be read: $(cat out)"
    otf2-print "$1/traces.otf2" >events
}

# compare TRACE -- what is in it with what the program says
compare() {
    read_trace "$1"
    [ "$(grep -c ^THREAD_FORK events)" = "$(say forks)" ] || fail "$1: not as many forks"
    [ "$(grep -c ^THREAD_JOIN events)" = "$(say forks)" ] || fail "$1: not as many joins"
    [ "$(calls parallel)" = "$(say members)" ] || fail "$1: $(calls parallel) members"
    [ "$(calls critical)" = "$(say critical)" ] || fail "$1: not as many critical regions"
    [ "$(calls 'critical sblock')" = "$(say critical)" ] || fail "$1: not as many in these"
    [ "$(calls task)" = "$(say tasks)" ] || fail "$1: $(calls task) tasks"
    "$snag" info "$1" --json >json || fail "$1: snag info ends with $?"
    [ "$(jq -c '[.teams.forks, .teams.lost]' json)" = "[$(say forks),0]" ] ||
        fail "$1: snag info has $(jq -c .teams json)"
}

# take PROGRAM [ARGUMENTS...] -- alone, and recorded
take() {
    local program=$1
    shift
    "./$program" 3 | sed 's/sum.*//' >alone || fail "$program alone ends with $?"
    SNAG_TRACER_DIR=$program.trace LD_PRELOAD=$libraries/libsnag-tracer-serial.so \
        "./$program" 3 "$@" | sed 's/sum.*//' >said || fail "$program ends with $?"
    cmp -s alone said || fail "$program does not do what it does alone"
    compare "$program.trace"
    done="$done $program"
}

command -v jq >/dev/null && command -v otf2-print >/dev/null || { echo "jq or otf2-print is missing"; exit 77; }
if build gcc gcc -g -O2 "$source/omp_teams.c"; then
    take gcc
    # the innermost barrier of a nested team has no place of its own: its call is a jump
    grep -q '"!$omp parallel @omp_teams.c:[0-9]*"' events || fail "gcc: regions have no lines"
    grep -q '"!$omp .*openmp_gomp' events && fail "gcc: the place is in the tracer"
fi
if build without-lines gcc -O2 -fno-inline "$source/omp_teams.c"; then
    take without-lines
    grep -q '"!$omp parallel @step+0x' events || fail "without lines: no functions"
    # the names of a filter: what they are around is recorded all the same
    echo 'exclude !$omp*' >filter
    SNAG_TRACER_FILTER=filter SNAG_TRACER_DIR=filtered LD_PRELOAD=$libraries/libsnag-tracer-serial.so \
        ./without-lines 3 >out
    read_trace filtered
    [ "$(calls '[a-z ]*')" = 0 ] || fail "a filter does not leave constructs out"
    [ "$(grep -c ^THREAD_FORK events)" = "$(say forks)" ] || fail "a filter leaves forks out"
    # functions are found on stacks at constructs, or hooks have them
    "$snag" record -o stacks -- ./without-lines 3 >out 2>told || fail "snag record ends with $?"
    grep -q 'function.* from stacks and OpenMP' told || fail "it says $(cat told)"
    "$snag" info stacks --json --all | jq -e '.regions[] | select(.name == "loops" and .calls == 3)' >out ||
        fail "no functions from stacks"
    "$snag" record --overhead 1% -o limited -- ./without-lines 3 >out 2>told || fail "snag record ends with $?"
    read_trace limited
fi
# The last call of a function is a jump: what is on the stack there is where its caller, which was
# recorded before, goes on.
cat >jump.c <<'C'
double x[64];
__attribute__((noinline)) static void first(void)
{
#pragma omp parallel for
    for (int i = 0; i < 64; i++)
        x[i] += i;
    x[0] = 1;
}
__attribute__((noinline)) static void last(void)
{
#pragma omp parallel for
    for (int i = 0; i < 64; i++)
        x[i] *= .5;
}
__attribute__((noinline)) static void step(void)
{
    first();
    last();
}
int main(void)
{
    for (int i = 0; i < 50; i++)
        step();
    return x[1] > 1e9;
}
C
if build jump gcc -g -O2 jump.c; then
    "$snag" record --quiet -o jump.trace -- ./jump || fail "snag record of jump ends with $?"
    read_trace jump.trace
    [ "$(calls parallel)" = 300 ] || fail "jump: $(calls parallel) members"
    [ "$(grep -c '^ENTER .*"!$omp parallel @jump.c:' events)" = 300 ] || fail "jump: other places"
fi
# Threads have the numbers that they have in the team of the first one, in whatever order they come: thread k
# counts k + 1 times, twice. Those of teams in it come behind: LLVM's runtime gives these threads that were in the
# team before, GCC's ends those in between.
cat >numbers.c <<'C'
#include <dirent.h>
#include <omp.h>
#include <sched.h>
static long n, n_inside;
/* Until those are gone that GCC's runtime ends. */
static void wait_for_two(void)
{
#ifndef __clang__
    for (int n_tasks = 0; n_tasks != 2; sched_yield()) {
        DIR *tasks = opendir("/proc/self/task");
        n_tasks = 0;
        for (struct dirent *d; (d = readdir(tasks));)
            n_tasks += d->d_name[0] != '.';
        closedir(tasks);
    }
#endif
}
static void inside(void)
{
#pragma omp parallel num_threads(3)
#pragma omp critical(inside)
    n_inside++;
}
static void count(void)
{
#pragma omp parallel num_threads(5)
    for (int i = 0; i <= omp_get_thread_num(); i++) {
#pragma omp critical(counted)
        n++;
    }
}
int main(void)
{
    omp_set_max_active_levels(2);
    count();
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        wait_for_two();
        inside();
    }
    wait_for_two();
    count();
    return n != 30 || n_inside != 3;
}
C
# threads_at TEXT -- the threads that come to that line of numbers.c, and how often
threads_at() {
    grep "^ENTER .*\"!\$omp critical @numbers.c:$(grep -n "$1" numbers.c | cut -d: -f1)\"" events |
        awk '{ n[$2 / 2^32]++ } END { for (thread in n) print thread, n[thread] }' | sort -n | tr '\n' ';'
}
for compiler in gcc clang; do
    build numbers-$compiler $compiler -g -O2 numbers.c || continue
    for run in 1 2 3 4 5; do
        rm -rf numbers.trace
        SNAG_TRACER_DIR=numbers.trace LD_PRELOAD=$libraries/libsnag-tracer-serial.so ./numbers-$compiler ||
            fail "numbers-$compiler ends with $?"
        read_trace numbers.trace
        [ "$(threads_at 'critical(counted)')" = "0 2;1 4;2 6;3 8;4 10;" ] || fail "numbers-$compiler: other numbers of threads"
        [ $compiler = clang ] || [ "$(threads_at 'critical(inside)')" = "1 1;5 1;6 1;" ] ||
            fail "numbers-$compiler: threads of the team inside are $(threads_at 'critical(inside)')"
    done
    done="$done numbers-$compiler"
done
build clang clang -g -O2 "$source/omp_teams.c" && take clang
build gfortran gfortran -g -O2 "$source/omp_teams.f90" && take gfortran

# a module that brings its own runtime, which no other part of the program sees
cat >module.c <<'C'
#include <stdio.h>
void run(void);
void run(void)
{
#pragma omp parallel
    {
#pragma omp critical
        puts("member");
    }
}
C
cat >host.c <<'C'
#include <dlfcn.h>
int main(void)
{
    void (*run)(void) = (void (*)(void))dlsym(dlopen("./module.so", RTLD_NOW | RTLD_LOCAL), "run");

    run();
    run();
    return 0;
}
C
if build module.so gcc -O2 -shared -fPIC module.c && gcc -O2 -o host host.c -ldl; then
    SNAG_TRACER_DIR=module.trace LD_PRELOAD=$libraries/libsnag-tracer-serial.so \
        timeout 60 ./host >out || fail "a module: ends with $?"
    [ "$(grep -c member out)" = 6 ] || fail "a module: $(grep -c member out) members"
    read_trace module.trace
    [ "$(calls parallel)" = 6 ] || fail "a module: not recorded"
fi

# ... is looked for once for each place that calls it, however many there are
{
    echo 'static int n; void run(void);'
    for i in $(seq 300); do
        echo "__attribute__((noinline)) static void f$i(void) {"
        echo '#pragma omp parallel num_threads(1)'
        echo "n += $i;"
        echo "n++; }"
    done
    echo "void run(void) { $(for i in $(seq 300); do echo "f$i();"; done) }"
} >places.c
cat >looks.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static int n_looks;
int dladdr1(const void *address, Dl_info *info, void **more, int flags)
{
    int (*real)(const void *, Dl_info *, void **, int) = dlsym(RTLD_NEXT, "dladdr1");

    n_looks++;
    return real(address, info, more, flags);
}
int main(void)
{
    void (*run)(void) = (void (*)(void))dlsym(dlopen("./places.so", RTLD_NOW | RTLD_LOCAL), "run");

    run();
    printf("%d", n_looks > 0);
    n_looks = 0;
    run();
    printf(" %d\n", n_looks);
    return 0;
}
C
if build places.so gcc -O2 -shared -fPIC places.c && gcc -O2 -rdynamic -o looks looks.c -ldl; then
    SNAG_TRACER_DIR=places.trace LD_PRELOAD=$libraries/libsnag-tracer-serial.so timeout 60 ./looks >out ||
        fail "a module of many places: ends with $?"
    [ "$(cat out)" = '1 0' ] || fail "a module of many places: its runtime is looked for again"
fi

# hybrid programs
for mpi in openmpi mpich; do
    library=$libraries/libsnag-tracer-mpich.so mpirun=mpirun.mpich
    [ $mpi = mpich ] || library=$libraries/libsnag-tracer.so mpirun=mpirun.openmpi
    [ -e "$library" ] && command -v $mpirun >/dev/null || continue
    build hybrid-$mpi mpicc.$mpi -g -O2 -DWITH_MPI "$source/omp_teams.c" || continue
    "$snag" record -o hybrid-$mpi.trace -- $mpirun -n 2 ./hybrid-$mpi 3 >said 2>out ||
        fail "snag record of hybrid-$mpi ends with $?"
    compare hybrid-$mpi.trace
    [ "$(say forks)" = 54 ] || fail "hybrid-$mpi did not run on two ranks"
    done="$done hybrid-$mpi"
done
[ -n "$done" ] || { echo "no compiler that knows OpenMP"; exit 77; }
echo "teams as the programs say:$done"
