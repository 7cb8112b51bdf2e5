/* short -- no memory is to be had any more when many requests are completed, by MPI_Waitall or
 * MPI_Waitsome, whose statuses nobody wants; each message arrives all the same. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define MESSAGES 1000

static void limit_memory(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

int main(int argc, char **argv)
{
    static MPI_Request request[2 * MESSAGES];
    static int sent[MESSAGES], received[MESSAGES], index[2 * MESSAGES];
    int n = 0, n_right = 0, is_some;

    MPI_Init(&argc, &argv);
    is_some = argc > 1 && strcmp(argv[1], "some") == 0;
    for (int i = 0; i < MESSAGES; i++) {
        sent[i] = i + 1;
        MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[2 * i]);
        MPI_Isend(&sent[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[2 * i + 1]);
    }
    limit_memory(0);
    if (is_some)
        while (n != MPI_UNDEFINED)
            MPI_Waitsome(2 * MESSAGES, request, &n, index, MPI_STATUSES_IGNORE);
    else
        MPI_Waitall(2 * MESSAGES, request, MPI_STATUSES_IGNORE);
    limit_memory(RLIM_INFINITY);
    for (int i = 0; i < MESSAGES; i++)
        n_right += received[i] == i + 1;
    printf("%d\n", n_right);
    MPI_Finalize();
    return 0;
}
