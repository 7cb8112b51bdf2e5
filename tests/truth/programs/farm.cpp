// Rank 0 deals tasks, the others ask for the next one when they are done. A step is a task.
#include "../truth.h"

#include <mpi.h>

static int rank, n_ranks;

static void solve()
{
    truth_work("solve", 3.0);
}

static void collect()
{
    truth_work("collect", 0.05);
}

static int next_task()
{
    int task = 0;
    truth_sends(0);
    MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    int64_t begin = truth_now();
    MPI_Recv(&task, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    truth_received(begin, 0);
    return task;
}

static void task(int number)
{
    truth_step(number);
    solve();
}

static void deal(int number)
{
    int asked;
    MPI_Status status;
    int64_t begin = truth_now();
    MPI_Recv(&asked, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    truth_received(begin, status.MPI_SOURCE);
    collect();
    truth_sends(status.MPI_SOURCE);
    MPI_Send(&number, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    truth_begin(rank, n_ranks);
    int n = truth_steps(300) * (n_ranks - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            deal(i);
        for (int i = 1; i < n_ranks; i++)
            deal(-1);
    } else {
        // of its own tasks each counts from 0, as disturbances do
        for (int i = 0; next_task() >= 0; i++)
            task(i);
    }
    truth_end();
    MPI_Finalize();
}
