/* The table, and what all methods have to check. */
#include "project/project.h"

#include "base/blas.h"
#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/xxh.h"
#include "project/mds.h"
#include "project/pca.h"
#include "project/tsne.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- rows that are equal */

void unique_rows_init(struct unique_rows *d, struct matrix x)
{
    double *copy = mem_alloc(x.cols + 1, sizeof *copy);
    struct idmap seen = {0};

    d->of = mem_resize(NULL, x.rows, sizeof *d->of);
    d->x = (struct matrix){NULL, x.rows, x.cols, x.cols};
    d->x.x = mem_resize(NULL, x.rows * x.cols + 1, sizeof *d->x.x);
    for (size_t i = 0; i < x.rows; i++) {
        uint32_t n_before = seen.n;
        XXH128_hash_t hash;

        for (size_t c = 0; c < x.cols; c++) /* + 0 makes -0 into 0: bytes are hashed */
            copy[c] = matrix_row(x, i)[c] + 0.0;
        hash = XXH3_128bits(copy, x.cols * sizeof *copy);
        d->of[i] = idmap_add(&seen, key_pair(hash.high64, hash.low64));
        if (d->of[i] == n_before)
            memcpy(matrix_row(d->x, n_before), copy, x.cols * sizeof *copy);
    }
    d->n = seen.n;
    d->x.rows = seen.n;
    idmap_release(&seen);
    free(copy);
}

void unique_rows_release(struct unique_rows *d)
{
    free(d->of);
    free(d->x.x);
    *d = (struct unique_rows){0};
}

void unique_rows_spread(const struct unique_rows *d, size_t rows, const double *from,
                        double *to)
{
    for (size_t i = 0; i < rows; i++) {
        to[2 * i] = from[2 * (size_t)d->of[i]];
        to[2 * i + 1] = from[2 * (size_t)d->of[i] + 1];
    }
}

/* ---------------------------------------------------------------------------------- methods */

#define MAX_ROWS 10000000

static const struct project_method methods[] = {
    {"tsne", "t-SNE: who is near to whom", "KL divergence", tsne_run},
    {"pca", "the two directions in which they differ most", "variance not shown", pca_run},
    {"mds", "distances as true as can be on a plane", "stress", mds_run},
};

const struct project_method *project_find(const char *name)
{
    return named_find(NAMED(methods), name);
}

const char *project_name(size_t i)
{
    return named_at(NAMED(methods), i);
}

static int check(struct matrix x)
{
    if (x.rows == 0 || x.rows > MAX_ROWS)
        return err_set(ERR_RANGE, "cannot project %zu executions", x.rows);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            if (!isfinite(matrix_row(x, i)[c]))
                return err_set(ERR_RANGE,
                               "cannot project: feature %zu of execution %zu is not a number",
                               c, i);
    return blas_load();
}

int project_run(const struct project_method *method, struct matrix x,
                const struct project_opts *opts, double *points, struct project_result *result)
{
    int rc = check(x);

    *result = (struct project_result){0};
    return rc < 0 ? rc : method->run(x, opts, points, result);
}

bool project_due(const struct project_opts *opts, uint32_t iteration)
{
    return opts->on_step && iteration % (opts->every ? opts->every : PROJECT_EVERY) == 0;
}

bool project_tell(const struct project_opts *opts, const struct project_step *step)
{
    return opts->on_step == NULL || opts->on_step(step, opts->ctx);
}
