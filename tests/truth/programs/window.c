/* A ring of ranks that put their borders into each other's windows, between two fences: no
 * messages, and no records of who waits for whom. */
#include "../truth.h"

#include <mpi.h>

#define BORDER 64

static int rank, n_ranks;
static double *window, border[BORDER];
static MPI_Win win;

static void compute(void)
{
    truth_work("compute", 3.0);
}

static void fill(void)
{
    truth_work("fill", 0.3);
}

static void fence(void)
{
    int64_t begin = truth_now();

    MPI_Win_fence(0, win);
    truth_met(begin, 0, n_ranks, 1, -1);
}

static void step(int i)
{
    truth_step(i);
    compute();
    fence();
    fill();
    MPI_Put(border, BORDER, MPI_DOUBLE, (rank + 1) % n_ranks, 0, BORDER, MPI_DOUBLE, win);
    fence();
}

int main(int argc, char **argv)
{
    int n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Win_allocate(BORDER * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &window, &win);
    truth_begin(rank, n_ranks);
    n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        step(i);
    truth_end();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
