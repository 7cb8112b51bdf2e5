/* Ranks with two threads each: a parallel loop, then all ranks meet, by the thread that forks.
 */
#include "../truth.h"

#include <mpi.h>
#include <omp.h>

static int rank, n_ranks, n_threads;

static void sweep(void)
{
    truth_work("sweep", 3.0);
}

static void relax(void)
{
#pragma omp parallel
    {
        truth_thread(omp_get_thread_num());
        truth_forked(n_threads);
        sweep();
        truth_joins(n_threads);
    }
    truth_joined(n_threads);
}

static void agree(void)
{
    double mine = rank, all;
    int64_t begin;

    truth_work("agree", 0.2);
    begin = truth_now();
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    truth_met(begin, 0, n_ranks, 1, -1);
}

static void step(int i)
{
    truth_step(i);
    relax();
    agree();
}

int main(int argc, char **argv)
{
    int n, provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    truth_begin(rank, n_ranks);
    n = truth_steps(300);
    n_threads = omp_get_max_threads();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        step(i);
    truth_end();
    MPI_Finalize();
    return 0;
}
