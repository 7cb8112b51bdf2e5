/* A ring of ranks that exchanges borders by requests that persist, and asks whether they are complete
 * again and again, with a nap in between: no call of MPI waits. */
#include "../truth.h"

#include <mpi.h>
#include <unistd.h>

#define BORDER 64
#define NAP_US 50

static int rank, n_ranks, left, right;
static double border[2][BORDER], inner[2][BORDER];
static MPI_Request request[4];

static void compute(void)
{
    truth_work("compute", 3.0);
}

static void pack(void)
{
    truth_work("pack", 0.3);
}

static void await(void)
{
    int64_t begin = truth_now();
    int is_complete = 0;

    for (;;) {
        MPI_Testall(4, request, &is_complete, MPI_STATUSES_IGNORE);
        if (is_complete)
            break;
        usleep(NAP_US);
    }
    truth_received(begin, left);
    truth_received(begin, right);
}

static void exchange(void)
{
    MPI_Startall(2, request);
    pack();
    truth_sends(left);
    truth_sends(right);
    MPI_Startall(2, request + 2);
    await();
}

static void step(int i)
{
    truth_step(i);
    compute();
    exchange();
}

int main(int argc, char **argv)
{
    int n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    left = (rank + n_ranks - 1) % n_ranks;
    right = (rank + 1) % n_ranks;
    MPI_Recv_init(border[0], BORDER, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(border[1], BORDER, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Send_init(inner[0], BORDER, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[2]);
    MPI_Send_init(inner[1], BORDER, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &request[3]);
    truth_begin(rank, n_ranks);
    n = truth_steps(300);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        step(i);
    truth_end();
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&request[i]);
    MPI_Finalize();
    return 0;
}
