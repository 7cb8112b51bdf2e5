/* Ranks in a grid of two columns: a transform along each, with an exchange of all with all of a
 * row or column between. */
#include "../truth.h"

#include <mpi.h>

#define COLUMNS 2

static int rank, n_ranks;
static MPI_Comm row, column;
static double sent[64], received[64];

static void transform_x(void)
{
    truth_work("transform_x", 1.5);
}

static void transform_y(void)
{
    truth_work("transform_y", 1.5);
}

static void transpose(MPI_Comm comm, int first, int n, int stride)
{
    int64_t begin = truth_now();

    MPI_Alltoall(sent, 4, MPI_DOUBLE, received, 4, MPI_DOUBLE, comm);
    truth_met(begin, first, n, stride, -1);
}

static void time_step(int i)
{
    truth_step(i);
    transform_x();
    transpose(row, rank / COLUMNS * COLUMNS, COLUMNS, 1);
    transform_y();
    transpose(column, rank % COLUMNS, n_ranks / COLUMNS, COLUMNS);
}

int main(int argc, char **argv)
{
    int n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank / COLUMNS, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % COLUMNS, rank, &column);
    truth_begin(rank, n_ranks);
    n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        time_step(i);
    truth_end();
    MPI_Finalize();
    return 0;
}
