/* A ring that exchanges borders by a collective of neighbours, then numbers what each has by a
 * scan: a rank waits for those before it alone. */
#include "../truth.h"

#include <mpi.h>

#define BORDER 16

static int rank, n_ranks, left, right;
static double sent[2 * BORDER], received[2 * BORDER];
static MPI_Comm ring;

static void relax(void)
{
    truth_work("relax", 3.0);
}

static void number(void)
{
    truth_work("number", 0.5);
}

static void exchange(void)
{
    int64_t begin;

    truth_sends(left);
    truth_sends(right);
    begin = truth_now();
    MPI_Neighbor_alltoall(sent, BORDER, MPI_DOUBLE, received, BORDER, MPI_DOUBLE, ring);
    truth_received(begin, left);
    truth_received(begin, right);
}

static void offsets(void)
{
    double own = rank, before = 0;
    int64_t begin;

    for (int i = rank + 1; i < n_ranks; i++)
        truth_sends(i);
    begin = truth_now();
    MPI_Scan(&own, &before, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < rank; i++)
        truth_received(begin, i);
}

static void sweep(int i)
{
    truth_step(i);
    relax();
    exchange();
    number();
    offsets();
}

int main(int argc, char **argv)
{
    int n, is_periodic = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n_ranks, &is_periodic, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    truth_begin(rank, n_ranks);
    n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        sweep(i);
    truth_end();
    MPI_Finalize();
    return 0;
}
