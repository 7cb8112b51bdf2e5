/* Two waits in one function, and a barrier in place of a return. Each place is called a number
 * of times of its own. */
#include <mpi.h>

#define NOT_INLINED __attribute__((noipa))

static int rank;

NOT_INLINED static void exchange(int times)
{
    int there[2], here[2] = {rank, rank};
    MPI_Request request[2];

    for (int i = 0; i < times; i++) {
        MPI_Irecv(&there[0], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request[0]); /* first */
        MPI_Send(&here[0], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE); /* first wait */
        if (i % 2 != 0)
            continue;
        MPI_Irecv(&there[1], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &request[1]); /* second */
        MPI_Send(&here[1], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE); /* second wait */
    }
}

/* Its own frame has been marked when the jump comes. */
NOT_INLINED static int in_place(int n)
{
    int sum = 0;

    MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Barrier(MPI_COMM_WORLD); /* in place of a return */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(100);
    for (int i = 0; i < 30; i++)
        if (in_place(i) != MPI_SUCCESS)
            return 1;
    MPI_Finalize();
    return 0;
}
