/*
 * A program of many cheap calls of MPI, such as one-sided communication over MPI makes, for
 * tests/record/overhead.sh:
 *
 *   cheap STEPS    prints the processor time that it took, in nanoseconds, to stderr
 *
 * Between the calls it computes a little, some functions deep.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 64

static MPI_Win win;
static double cell[N], *memory;
static volatile double sum;

__attribute__((noinline)) static void put(int i)
{
    MPI_Put(cell, 1 + i % N, MPI_DOUBLE, 0, 0, 1 + i % N, MPI_DOUBLE, win);
    MPI_Win_flush_local(0, win);
    sum += cell[0];
}

__attribute__((noinline)) static void get(int i)
{
    MPI_Get(cell, 1 + i % N, MPI_DOUBLE, 0, 0, 1 + i % N, MPI_DOUBLE, win);
    MPI_Win_flush(0, win);
    sum += cell[0];
}

__attribute__((noinline)) static void progress(void)
{
    int is_there;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE);
    sum += is_there;
}

__attribute__((noinline)) static void lock(int i)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    put(i);
    MPI_Win_unlock(0, win);
    sum += 1;
}

__attribute__((noinline)) static void step(int i)
{
    for (int k = 0; k < 4; k++) {
        MPI_Win_lock_all(0, win);
        put(i + k);
        get(i + k);
        MPI_Win_unlock_all(win);
        progress();
        for (int j = 0; j < 8 * N; j++)
            cell[j % N] += sum / (1 + j);
    }
    lock(i);
}

int main(int argc, char **argv)
{
    int n_steps = argc > 1 ? atoi(argv[1]) : 0;
    struct timespec t;

    MPI_Init(&argc, &argv);
    MPI_Win_allocate(N * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_SELF, &memory,
                     &win);
    for (int i = 0; i < n_steps; i++)
        step(i);
    MPI_Win_free(&win);
    MPI_Finalize();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    fprintf(stderr, "%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    return 0;
}
