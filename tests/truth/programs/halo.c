/* A ring of ranks: work, then the borders to and from both neighbours, without blocking; nobody
 * meets all others. */
#include "../truth.h"

#include <mpi.h>

static int rank, n_ranks;
static double border[2][64], inner[2][64];

static void compute(void)
{
    truth_work("compute", 3.0);
}

static void pack(void)
{
    truth_work("pack", 0.3);
}

static void exchange(void)
{
    int left = (rank + n_ranks - 1) % n_ranks, right = (rank + 1) % n_ranks;
    MPI_Request requests[4];
    int64_t begin;

    MPI_Irecv(border[0], 64, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(border[1], 64, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    pack();
    truth_sends(right);
    MPI_Isend(inner[1], 64, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
    truth_sends(left);
    MPI_Isend(inner[0], 64, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
    begin = truth_now();
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    truth_received(begin, left);
    truth_received(begin, right);
}

static void step(int i)
{
    truth_step(i);
    compute();
    exchange();
}

int main(int argc, char **argv)
{
    int n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    truth_begin(rank, n_ranks);
    n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        step(i);
    truth_end();
    MPI_Finalize();
    return 0;
}
