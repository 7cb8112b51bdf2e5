/* many -- 10,000 communicators at once, 100,000 requests open at once, of which the last are
 * completed first; and copies of requests, which nobody may mistake for each other. */
#include <mpi.h>
#include <stdlib.h>

#define COMMUNICATORS 10000
#define REQUESTS 100000

int main(int argc, char **argv)
{
    MPI_Comm *made = malloc(COMMUNICATORS * sizeof *made);
    MPI_Request *request = malloc(2 * REQUESTS * sizeof *request);
    int n = argc > 1 ? atoi(argv[1]) : COMMUNICATORS, value = 0, in = 0, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &made[i]);
    for (int i = 0; i < n; i++)
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, made[i],
                     MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&made[i]);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(&in, 1, MPI_INT, rank, i % 1000, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < REQUESTS; i++)
        MPI_Isend(&value, 1, MPI_INT, rank, i % 1000, MPI_COMM_WORLD, &request[REQUESTS + i]);
    for (int i = 2 * REQUESTS; i-- > REQUESTS;) {
        MPI_Request copy = request[i];

        MPI_Wait(&copy, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(REQUESTS, request, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    free(made);
    free(request);
    return 0;
}
