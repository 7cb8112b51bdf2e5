/* Threads: a parallel loop and a part that one thread does alone, in each step. */
#include "../truth.h"

#include <omp.h>
#include <stdlib.h>

static int n_threads;

static void sweep(void)
{
    truth_work("sweep", 3.0);
}

static void tables(void)
{
    truth_work("tables", 0.5);
}

static void step(int i)
{
    truth_step(i);
    tables();
#pragma omp parallel
    {
        truth_thread(omp_get_thread_num());
        truth_forked(n_threads);
        sweep();
        truth_joins(n_threads);
    }
    truth_joined(n_threads);
}

int main(void)
{
    int n;

    truth_begin(0, 1);
    n = truth_steps(300);
    n_threads = omp_get_max_threads();
    for (int i = 0; i < n; i++)
        step(i);
    truth_end();
    return 0;
}
