/*
 * tsne_bench -- how long t-SNE takes, and how good it is.
 *
 *   tsne_bench make ROWS COLS FILE            write a mixture of Gaussians
 *   tsne_bench run COLS FILE ITERATIONS THREADS [POINTS]
 *
 * Files are raw doubles, row-major. `run` prints seconds, also those of the processors, and the
 * KL divergence, computed exactly: P from all pairs of rows at perplexity 30, Q from all pairs
 * of points, so that it compares with that of other programs (tsne_sklearn.py). Beyond 8,000
 * rows, only the program's own estimate is printed.
 */
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "project/project.h"
#include "project/tsne.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_EXACT 8000

/* 40 clusters of very different sizes and widths, on subspaces of 1 to 10 dimensions. */
static int make(size_t rows, size_t cols, const char *path)
{
    enum { CLUSTERS = 40, DIMENSIONS = 10 };
    double *centre = mem_alloc(CLUSTERS * cols, sizeof *centre);
    double *axis = mem_alloc(CLUSTERS * DIMENSIONS * cols, sizeof *axis);
    FILE *out = fopen(path, "wb");
    struct rng rng = {42};

    if (out == NULL)
        return 1;
    for (size_t i = 0; i < CLUSTERS * cols; i++)
        centre[i] = rng_normal(&rng);
    for (size_t i = 0; i < CLUSTERS * DIMENSIONS * cols; i++)
        axis[i] = rng_normal(&rng);
    for (size_t i = 0; i < rows; i++) {
        size_t c = (size_t)(CLUSTERS * pow(rng_real(&rng), 2));
        double weight[DIMENSIONS];

        for (size_t k = 0; k < 1 + c % DIMENSIONS; k++)
            weight[k] = 0.3 * rng_normal(&rng);
        for (size_t j = 0; j < cols; j++) {
            double v = centre[c * cols + j] + 0.05 * rng_normal(&rng);

            for (size_t k = 0; k < 1 + c % DIMENSIONS; k++)
                v += weight[k] * axis[(c * DIMENSIONS + k) * cols + j];
            fwrite(&v, sizeof v, 1, out);
        }
    }
    free(centre);
    free(axis);
    return fclose(out) != 0;
}

static double square(const double *a, const double *b, size_t cols)
{
    double sum = 0;

    for (size_t c = 0; c < cols; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/* affinity_row wants them ascending: the smallest is moved to the front, which is enough. */
static void conditional(struct matrix x, size_t i, double *p)
{
    double *d = mem_alloc(x.rows, sizeof *d), *q = mem_alloc(x.rows, sizeof *q);
    size_t n = 0, least = 0;

    for (size_t j = 0; j < x.rows; j++)
        if (j != i)
            d[n++] = square(matrix_row(x, i), matrix_row(x, j), x.cols);
    for (size_t j = 1; j < n; j++)
        least = d[j] < d[least] ? j : least;
    d[n] = d[0], d[0] = d[least], d[least] = d[n];
    affinity_row(d, n, PROJECT_PERPLEXITY, q);
    q[n] = q[0], q[0] = q[least], q[least] = q[n];
    for (size_t j = 0, k = 0; j < x.rows; j++)
        p[j] = j == i ? 0 : q[k++];
    free(d);
    free(q);
}

static double exact_cost(struct matrix x, const double *y)
{
    size_t n = x.rows;
    double *p = mem_alloc(n * n, sizeof *p), sum_q = 0, cost = 0;

    for (size_t i = 0; i < n; i++)
        conditional(x, i, p + i * n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sum_q += i == j ? 0 : 1 / (1 + square(y + 2 * i, y + 2 * j, 2));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double pij = (p[i * n + j] + p[j * n + i]) / 2 / (double)n;

            if (i != j && pij > 0)
                cost += pij * (log(pij) + log1p(square(y + 2 * i, y + 2 * j, 2)) + log(sum_q));
        }
    free(p);
    return cost;
}

static int run(char **arg, const char *points_path)
{
    size_t cols = strtoul(arg[0], NULL, 10), bytes;
    struct project_opts opts = {.iterations = (uint32_t)atoi(arg[2]),
                                .seed = 1,
                                .pool = pool_new((unsigned)atoi(arg[3]))};
    struct project_result result;
    const void *data;
    struct matrix x = {.cols = cols, .stride = cols};
    double *y;
    uint64_t begin;
    clock_t cpu;

    if (cols == 0 || fs_map(arg[1], &data, &bytes) < 0)
        return 1;
    x.rows = bytes / sizeof *y / cols;
    x.x = (double *)data;
    y = mem_alloc(2 * x.rows, sizeof *y);
    begin = clock_ns();
    cpu = clock();
    if (project_run(project_find("tsne"), x, &opts, y, &result) < 0)
        fprintf(stderr, "tsne_bench: %s\n", err_message());
    printf("seconds %.3f\ncpu_seconds %.3f\nkl_estimate %.5f\n",
           (double)(clock_ns() - begin) * 1e-9, (double)(clock() - cpu) / CLOCKS_PER_SEC,
           result.cost);
    fflush(stdout);
    if (x.rows <= MAX_EXACT)
        printf("kl %.5f\n", exact_cost(x, y));
    if (points_path) {
        FILE *out = fopen(points_path, "wb");

        if (out == NULL || fwrite(y, 2 * sizeof *y, x.rows, out) != x.rows || fclose(out) != 0)
            return 1;
    }
    free(y);
    fs_unmap(data, bytes);
    pool_free(opts.pool);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "make") == 0)
        return make(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), argv[4]);
    if ((argc == 6 || argc == 7) && strcmp(argv[1], "run") == 0)
        return run(argv + 2, argc == 7 ? argv[6] : NULL);
    fprintf(stderr, "usage: tsne_bench make ROWS COLS FILE\n"
                    "       tsne_bench run COLS FILE ITERATIONS THREADS [POINTS]\n");
    return 2;
}
