/*
 * Has functions that the compiler puts in the place of their calls, which compute for longer than
 * a sample's period, and make a team, which is recorded as a call of MPI is, once in each call. It
 * prints "FUNCTION CALLS" of each.
 *
 *   sampled_inlined [ms [threads]]  how long each computes, 30; in so many threads (8 at most)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 10
#define NOT_INLINED __attribute__((noinline, noclone))
#define INLINED static inline __attribute__((always_inline))

static _Thread_local volatile int sink; /* written after a call, which then is no jump */
static double ms = 30;
static _Thread_local char memory[1 << 22];

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

NOT_INLINED static double end_in(double part)
{
    return now_ms() + part * ms;
}

NOT_INLINED static int is_before(double end)
{
    return now_ms() < end;
}

NOT_INLINED static void team(void)
{
#pragma omp parallel num_threads(1)
    sink++;
    sink++;
}

NOT_INLINED static void compute(double part)
{
    for (double end = end_in(part); is_before(end);)
        for (int i = 0; i < 100000; i++)
            sink++;
}

/* One that calls another which has no mark. */
INLINED void calling(void)
{
    compute(1);
    sink++;
    team();
}

/* In another that is inlined. */
INLINED void inner(void)
{
    compute(1);
    sink++;
}

INLINED void nested(void)
{
    inner();
    team();
    sink++;
}

/* In a loop. */
INLINED void looping(void)
{
    for (int i = 0; i < 3; i++)
        compute(0.3);
    team();
    sink++;
}

/* It computes itself. */
INLINED void alone(void)
{
    double end = end_in(1);

    do
        for (int i = 0; i < 100000; i++)
            sink++;
    while (is_before(end));
    team();
    sink++;
}

/* It calls what is not recorded. */
INLINED void filling(void)
{
    double end = end_in(1);

    do
        memset(memory, sink, sizeof memory);
    while (is_before(end));
    team();
    sink++;
}

/* What it calls makes the team, between two parts of its work, */
NOT_INLINED static void part(void)
{
    compute(0.4);
    team();
    compute(0.4);
    sink++;
}

INLINED void around(void)
{
    part();
    sink++;
}

/* and in its end, where there is a jump. */
NOT_INLINED static void ends(void)
{
    compute(0.5);
    team();
    compute(0.5);
    team();
}

INLINED void jumping(void)
{
    ends();
    sink++;
}

#define LOOP(name)                                                                             \
    NOT_INLINED static void loop_##name(void)                                                  \
    {                                                                                          \
        for (int i = 0; i < STEPS; i++)                                                        \
            name();                                                                            \
        sink++;                                                                                \
    }
#define LOOPS(X) X(calling) X(nested) X(looping) X(alone) X(filling) X(around) X(jumping)
LOOPS(LOOP)

static void *run(void *arg)
{
#define RUN(name) loop_##name();
    LOOPS(RUN)
    return arg;
}

int main(int argc, char **argv)
{
    int n_threads = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t thread[8];

    ms = argc > 1 ? atof(argv[1]) : ms;
    for (int i = 0; i < n_threads && i < 8; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < n_threads && i < 8; i++)
        pthread_join(thread[i], NULL);
    if (n_threads == 0)
        run(NULL);
#define TELL(name) printf("%s %d\n", #name, STEPS *(n_threads ? n_threads : 1));
    LOOPS(TELL)
    TELL(inner)
    return 0;
}
