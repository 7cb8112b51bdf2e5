/*
 * Asks MPI again and again whether a message has come: at once, behind a nap, behind work, and in
 * turns with another function. The last line that rank 0 writes has how often MPI_Test found
 * nothing.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define N_TIGHT 2000 /* each gives the processor away: for milliseconds where it is busy */
#define N_NAPS 20
#define N_BUSY 60
#define N_TURNS 1000

static int look_once(MPI_Request *request)
{
    int flag;

    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    return flag;
}

/* Polls of two functions, one after the other. */
static void look_in_turns(MPI_Request *request)
{
    int flag, n;

    for (int i = 0; i < N_TURNS; i++) {
        MPI_Iprobe(1, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Testsome(1, request, &n, &flag, MPI_STATUSES_IGNORE);
    }
}

static double processor_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work_a_millisecond(void)
{
    double begin = processor_s();

    while (processor_s() - begin < 1e-3)
        ;
}

static void wait_for_it(void)
{
    MPI_Request request;
    int value, n_in_vain = 0;

    MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < N_TIGHT; i++)
        n_in_vain += !look_once(&request);
    for (int i = 0; i < N_NAPS; i++) {
        usleep(1000);
        n_in_vain += !look_once(&request);
    }
    MPI_Barrier(MPI_COMM_SELF); /* what comes is no part of a wait before */
    for (int i = 0; i < N_BUSY; i++) {
        work_a_millisecond();
        n_in_vain += !look_once(&request);
    }
    look_in_turns(&request);
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); /* now it is sent */
    while (!look_once(&request))
        n_in_vain++;
    printf("%d\n", n_in_vain);
}

int main(int argc, char **argv)
{
    int rank, value = 7;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        wait_for_it();
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
