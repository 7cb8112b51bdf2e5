/*
 * The same collective, from one place, of both ranks and far more often of each for itself:
 * N_TOGETHER, and N_ALONE for each.
 */
#include <mpi.h>
#include <stdio.h>

#define N_TOGETHER 200
#define N_ALONE 2000

__attribute__((noipa)) static int sum_of(int here, MPI_Comm comm)
{
    int sum = 0;

    MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Comm own;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    for (int i = 0; i < N_TOGETHER; i++) {
        sum += sum_of(i, MPI_COMM_WORLD);
        for (int k = 0; k < N_ALONE; k++)
            sum += sum_of(k, k % 2 ? own : MPI_COMM_SELF);
    }
    MPI_Comm_free(&own);
    if (rank == 0)
        printf("%d %d %d\n", 2 * N_TOGETHER, 2 * N_TOGETHER * N_ALONE, sum > 0);
    MPI_Finalize();
    return 0;
}
