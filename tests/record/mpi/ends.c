/* ends HOW -- a program of MPI of which rank 0 ends in that way, while the others wait for it.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(const char *how)
{
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strncmp(how, "abort", 5) == 0)
        abort();
    if (strcmp(how, "fault") == 0)
        *(volatile int *)8 = 0;
    if (strcmp(how, "term") == 0)
        raise(SIGTERM);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "mpi_abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Send(NULL, -1, MPI_INT, 77, -5, MPI_COMM_WORLD); /* MPI ends the program itself */
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        end(argv[1]);
    else if (strcmp(argv[1], "abort_late") != 0)
        pause();
    MPI_Finalize();
    return 0;
}
