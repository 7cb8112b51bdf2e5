/* Items go from rank to rank, each of which is a stage; a stage gives an item away when the
 * next one takes it. */
#include "../truth.h"

#include <mpi.h>

static int rank, n_ranks;

static void transform(void)
{
    truth_work("transform", 3.0);
}

static void take(double *item)
{
    int64_t begin = truth_now();

    if (rank == 0)
        return;
    MPI_Recv(item, 16, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_met(begin, rank - 1, 2, 1, -1);
}

static void give(double *item)
{
    int64_t begin;

    truth_work("give", 0.1);
    begin = truth_now();
    if (rank == n_ranks - 1)
        return;
    MPI_Ssend(item, 16, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
    truth_met(begin, rank, 2, 1, -1);
}

static void stage(int i)
{
    double item[16] = {0};

    truth_step(i);
    take(item);
    transform();
    give(item);
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
        stage(i);
    truth_end();
    MPI_Finalize();
    return 0;
}
