/* Two ranks that pass a number on, 200 times: built where the archive is tried, by that system's compiler and MPI. */
#include <mpi.h>
#include <stdio.h>

static void __attribute__((noinline)) turn(int rank, int n_ranks, int *number)
{
    MPI_Sendrecv_replace(number, 1, MPI_INT, (rank + 1) % n_ranks, 0,
                         (rank + n_ranks - 1) % n_ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, n_ranks, number;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    number = rank;
    for (int i = 0; i < 200; i++)
        turn(rank, n_ranks, &number);
    printf("%d\n", number);
    MPI_Finalize();
    return 0;
}
