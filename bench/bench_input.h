/*
 * bench_input -- what the benchmarks of the detectors run on: rows in twenty clusters, one in
 * fifty of them spread wide. bench_input.py makes the same numbers.
 *
 *   usage: ..._bench [ROWS [COLS [THREADS]]]     default 5800 128, all processors
 */
#ifndef SNAG_BENCH_INPUT_H
#define SNAG_BENCH_INPUT_H

#include "base/matrix.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BENCH_CLUSTERS 20u

static inline double bench_clock(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_now(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

/* Processor time of all threads: on a busy machine, waiting for others is not in it. */
static inline double bench_cpu(void)
{
    return bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static inline size_t bench_argument(int argc, char **argv, int i, size_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

static inline unsigned bench_threads(int argc, char **argv)
{
    return (unsigned)bench_argument(argc, argv, 3, 0);
}

/* Row i of cluster i % 20: its centre, plus noise of 0.3, or of 1 for every fiftieth row. */
static inline struct matrix bench_input(int argc, char **argv)
{
    size_t rows = bench_argument(argc, argv, 1, 5800),
           cols = bench_argument(argc, argv, 2, 128);
    struct matrix x = {mem_alloc(rows * cols, sizeof(double)), rows, cols, cols};
    double *centre = mem_alloc(BENCH_CLUSTERS * cols, sizeof *centre);
    struct rng rng = {1};

    for (size_t c = 0; c < BENCH_CLUSTERS * cols; c++)
        centre[c] = rng_normal(&rng);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < cols; c++)
            matrix_row(x, i)[c] = centre[i % BENCH_CLUSTERS * cols + c] +
                                  (i % 50 == 7 ? 1 : 0.3) * rng_normal(&rng);
    free(centre);
    return x;
}

#endif
