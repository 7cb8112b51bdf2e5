/*
 * A window of memory that MPI allocates, to which rank 0 writes, and which it flushes far more
 * often than that: N_PUTS, and N_FLUSHES for each. Another one that is shared. The function
 * that writes has returned when that is completed.
 */
#include <mpi.h>
#include <stdio.h>

#define N_PUTS 40
#define N_FLUSHES 10000

static int value = 7;

__attribute__((noipa)) static void put(MPI_Win win)
{
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    value++;
}

int main(int argc, char **argv)
{
    int rank, *memory;
    MPI_Win win, shared;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                            &shared);
    MPI_Win_lock_all(0, win);
    for (int i = 0; rank == 0 && i < N_PUTS; i++) {
        put(win);
        for (int k = 0; k < N_FLUSHES; k++)
            MPI_Win_flush(1, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&shared);
    MPI_Win_free(&win);
    if (rank == 0)
        printf("%d %d\n", N_PUTS, N_PUTS * N_FLUSHES);
    MPI_Finalize();
    return 0;
}
