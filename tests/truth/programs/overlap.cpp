// A sum over all ranks is begun, and waited for after more work: who comes late costs nothing
// that this work hides. Particles: a rank with more of them has more cells to do.
#include "../truth.h"

#include <mpi.h>

static int rank, n_ranks;

static void cell()
{
    truth_work("cell", 0.5);
}

static void forces()
{
    for (int i = truth_pieces(5); i > 0; i--)
        cell();
}

static void neighbours()
{
    truth_work("neighbours", 1.0);
}

static void advance(int i)
{
    double mine = rank, all = 0;
    MPI_Request request;
    truth_step(i);
    forces();
    MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    truth_sends(TRUTH_ALL); // who is waited for has begun the sum
    neighbours();
    int64_t begin = truth_now();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    truth_received(begin, TRUTH_ALL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    truth_begin(rank, n_ranks);
    int n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        advance(i);
    truth_end();
    MPI_Finalize();
}
