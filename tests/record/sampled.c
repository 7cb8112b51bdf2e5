/*
 * Functions that compute, and call no MPI. The program says itself how long each took, as
 * "NAME SHARE" with the share of all of them in per mille, and "waited SHARE" of them was the
 * processor another's; caller() has its time in compute().
 * With MPI it has calls of that in between; with a second argument a thread does it, or the
 * program kills itself afterwards.
 *
 *   sampled SECONDS-OF-PROCESSOR-TIME [thread | killed]
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WITH_MPI
#include <mpi.h>
#else
#define MPI_Init(argc, argv) (void)0
#define MPI_Barrier(comm) (void)0
#define MPI_Finalize() (void)0
#endif

#define ALONE __attribute__((noinline, noclone))

static volatile uint64_t sum;
static double wanted = 1;

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ALONE void compute(double until)
{
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        for (uint64_t i = 0; i < 10000; i++)
            sum += i * i;
}

static ALONE void short_one(double begin)
{
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < begin + .02)
        for (uint64_t i = 0; i < 10000; i++)
            sum += i * i;
}

static ALONE void long_one(double begin)
{
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < begin + .06)
        for (uint64_t i = 0; i < 10000; i++)
            sum += i ^ sum;
}

static ALONE void caller(double begin)
{
    compute(begin + .04);
    sum++;
}

static ALONE void *work(void *arg)
{
    static const struct {
        const char *name;
        void (*run)(double begin);
    } part[] = {{"short_one", short_one}, {"long_one", long_one}, {"caller", caller}};
    double took[3] = {0}, all = 0, computed = 0;

    while (seconds(CLOCK_THREAD_CPUTIME_ID) < wanted) {
        for (int i = 0; i < 3; i++) {
            double begin = seconds(CLOCK_MONOTONIC), end;
            double from = seconds(CLOCK_THREAD_CPUTIME_ID);

            part[i].run(from);
            computed += seconds(CLOCK_THREAD_CPUTIME_ID) - from;
            end = seconds(CLOCK_MONOTONIC);
            took[i] += end - begin;
            all += end - begin;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; i++)
        printf("%s %.0f\n", part[i].name, 1000 * took[i] / all);
    printf("waited %.0f\n", 1000 * (all - computed) / all);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    MPI_Init(&argc, &argv);
    if (argc > 1)
        wanted = atof(argv[1]);
    if (argc > 2 && strcmp(argv[2], "thread") == 0) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    } else {
        work(NULL);
    }
    if (argc > 2 && strcmp(argv[2], "killed") == 0)
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
