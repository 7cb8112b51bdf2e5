/*
 * A program that calls one function far too often to record it, for tests/record/overhead.sh:
 *
 *   tiny STEPS CALLS    calls step STEPS times, which calls tiny CALLS times, every other of
 *                       them from within another
 *
 * Compiled with -DWITH_MPI it calls MPI in tiny, and in step.
 */
#include <stdlib.h>
#ifdef WITH_MPI
#include <mpi.h>
#define CALL_MPI() MPI_Send(NULL, 0, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_SELF)
#else
#define CALL_MPI() (void)0
#endif

static volatile long sum;

__attribute__((noinline)) static void tiny(int depth)
{
    CALL_MPI();
    if (depth > 0)
        tiny(depth - 1);
    sum += depth;
}

__attribute__((noinline)) static void step(long n_calls)
{
    CALL_MPI();
    for (long i = 0; i < n_calls; i += 2)
        tiny(1);
    sum++;
}

int main(int argc, char **argv)
{
    int n_steps = argc > 2 ? atoi(argv[1]) : 0;
    long n_calls = argc > 2 ? atol(argv[2]) : 0;

#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    for (int i = 0; i < n_steps; i++)
        step(n_calls);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
