/*
 * A program that calls a function so many times a second, and does little else, until a signal
 * ends it, or it is as old as is said. How many calls have returned is in a file that all ranks
 * share, where it stays however they end:
 *
 *     signalled FILE CALLS-PER-SECOND SECONDS
 *
 *     FILE:  | process id, calls | process id, calls | ...     16 bytes each, by rank
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define MAX_RANKS 64
#define BATCH_NS 1000000 /* between two looks at the clock */
#define BATCHES 16       /* between two messages */
#define OTHER __attribute__((no_instrument_function))

struct counted {
    uint64_t pid, n;
};

static OTHER uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void counted(volatile int *x)
{
    *x += 1;
}

/* Whether any rank wants to end. */
static OTHER bool end_all(bool wants_end)
{
#ifdef WITH_MPI
    int one = wants_end, any = 0;

    MPI_Allreduce(&one, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
#else
    return wants_end;
#endif
}

static OTHER void run(struct counted *count, double calls_per_ns, uint64_t end_ns)
{
    uint64_t begin_ns = now_ns(), batch = (uint64_t)(BATCH_NS * calls_per_ns) + 1;
    volatile int x = 0;

    while (!end_all(now_ns() >= end_ns))
        for (int k = 0; k < BATCHES; k++) {
            while ((double)count->n > (double)(now_ns() - begin_ns) * calls_per_ns)
                usleep(200);
            for (uint64_t i = 0; i < batch; i++) {
                counted(&x);
                __atomic_store_n(&count->n, count->n + 1, __ATOMIC_RELAXED);
            }
        }
}

OTHER int main(int argc, char **argv)
{
    int rank = 0, fd = open(argv[1], O_RDWR | O_CREAT, 0666);
    struct counted *all;

#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#else
    (void)argc;
#endif
    if (ftruncate(fd, MAX_RANKS * sizeof *all) != 0)
        return 1;
    all = mmap(NULL, MAX_RANKS * sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    all[rank].pid = (uint64_t)getpid();
    run(&all[rank], atof(argv[2]) / 1e9, now_ns() + (uint64_t)(atof(argv[3]) * 1e9));
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
