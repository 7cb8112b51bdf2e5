/* A ring of ranks in which nobody posts a receive: who has sent its borders looks what has come, in
 * whatever order, with a nap where there is nothing; the last message it waits for by MPI_Probe. */
#include "../truth.h"

#include <mpi.h>
#include <unistd.h>

#define BORDER 64
#define NAP_US 50

static int rank, n_ranks;
static double border[BORDER], inner[BORDER];

static void compute(void)
{
    truth_work("compute", 3.0);
}

static void pack(void)
{
    truth_work("pack", 0.3);
}

static void take(int64_t begin, const MPI_Status *status)
{
    int n;

    MPI_Get_count(status, MPI_DOUBLE, &n);
    MPI_Recv(border, n, MPI_DOUBLE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    truth_received(begin, status->MPI_SOURCE);
}

static void collect(int step)
{
    int64_t begin = truth_now();
    MPI_Status status;
    int is_there = 0;

    for (;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &is_there, &status);
        if (is_there)
            break;
        usleep(NAP_US);
    }
    take(begin, &status);
    begin = truth_now();
    MPI_Probe(MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &status);
    take(begin, &status);
}

static void exchange(int step)
{
    int side[2] = {(rank + n_ranks - 1) % n_ranks, (rank + 1) % n_ranks};
    MPI_Request request[2];

    pack();
    for (int i = 0; i < 2; i++) {
        truth_sends(side[i]);
        MPI_Isend(inner, BORDER, MPI_DOUBLE, side[i], step, MPI_COMM_WORLD, &request[i]);
    }
    collect(step);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void step(int i)
{
    truth_step(i);
    compute();
    exchange(i);
}

int main(int argc, char **argv)
{
    int n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    truth_begin(rank, n_ranks);
    n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        step(i);
    truth_end();
    MPI_Finalize();
    return 0;
}
