/*
 * many_calls CALLS -- a program of small functions, about so many calls of them in all threads
 * together: steps of 1,041 calls, to be built with -finstrument-functions and recorded by snag,
 * with -fopenmp for threads. What is measured is how the time of the analysis grows with the
 * length of such a trace, so the functions do next to nothing: the tracer writes its buffer
 * again and again.
 *
 *     main
 *       step                                        10 phases in each thread
 *         phase
 *           kernel                                  20 of them
 *             leaf                                  4 of them
 */
#include <stdio.h>
#include <stdlib.h>

#define CALLS_OF_STEP 1011

static volatile double sink;

static __attribute__((noinline)) void leaf(int i)
{
    sink = i * 0.5;
}

static __attribute__((noinline)) void kernel(int i)
{
    for (int k = 0; k < 4; k++)
        leaf(i + k);
}

static __attribute__((noinline)) void phase(void)
{
    for (int i = 0; i < 20; i++)
        kernel(i);
}

static __attribute__((noinline)) void step(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 10; i++)
        phase();
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) / CALLS_OF_STEP : 100;

    for (long i = 0; i < n; i++)
        step();
    printf("%ld steps\n", n);
    return 0;
}
