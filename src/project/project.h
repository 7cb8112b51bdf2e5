/*
 * project -- rows of numbers as points on a plane, so that a person can look at them.
 *
 * One table of methods. All are deterministic: the same rows, options and seed give the same
 * bytes on any number of threads. To add one: one file and one row in project.c.
 */
#ifndef SNAG_PROJECT_PROJECT_H
#define SNAG_PROJECT_PROJECT_H

#include "base/matrix.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * unique_rows -- rows of a matrix that are equal, as one.
 *
 * Executions that did the same are described by the same numbers, often thousands of them.
 */
struct unique_rows {
    uint32_t n;      /* different rows */
    uint32_t *of;    /* [rows] which of them each row is */
    struct matrix x; /* (n, cols) those rows, in order of first appearance; its own */
};

/* unique_rows_init -- find equal rows (0 and -0 are equal) by 128-bit hash. O(rows cols). */
void unique_rows_init(struct unique_rows *d, struct matrix x);
void unique_rows_release(struct unique_rows *d);

/* unique_rows_spread -- points (n, 2) of the different rows to those of all rows, (rows, 2). */
void unique_rows_spread(const struct unique_rows *d, size_t rows, const double *from,
                        double *to);

#define PROJECT_PERPLEXITY 30.0
#define PROJECT_EVERY 50 /* iterations between two calls of on_step */

/* How far an iterative method is. */
struct project_step {
    uint32_t iteration, n_iterations;
    double cost;          /* t-SNE: KL divergence, nats; MDS: stress, 0 .. 1 */
    const double *points; /* (rows, 2) as they are now; gone when on_step returns */
    size_t rows;
};

struct project_opts {
    double perplexity;   /* t-SNE: neighbours a row has, about; 0: PROJECT_PERPLEXITY */
    uint32_t iterations; /* at most; 0: the method's own number */
    uint64_t seed;
    struct pool *pool;
    uint32_t every;                                              /* 0: PROJECT_EVERY */
    bool (*on_step)(const struct project_step *step, void *ctx); /* false cancels; or NULL */
    void *ctx;                                                   /* of on_step */
};

struct project_result {
    double cost;           /* as in project_step; pca: the share of the variance not shown */
    uint32_t n_iterations; /* done */
    bool is_cancelled;     /* the points are those of the last iteration done */
};

struct project_method {
    const char *name; /* as typed on the command line */
    const char *what;
    const char *cost_name;
    int (*run)(struct matrix x, const struct project_opts *opts, double *points,
               struct project_result *result);
};

/* project_find -- the method with this name, or NULL. */
const struct project_method *project_find(const char *name);

/* project_name -- of row i of the table; NULL after its last. */
const char *project_name(size_t i);

/*
 * project_run -- put rows on a plane.
 *   x       (rows, cols), 1 <= rows <= 10^7, any number of columns
 *   points  (rows, 2) out, centred
 * Returns 0, also when it was cancelled, ERR_RANGE when there are no rows, too many, numbers
 * that are not finite, or options that make no sense, or as blas_load. Equal rows become equal points. Cost: see
 * the methods. Uses one BLAS thread.
 */
int project_run(const struct project_method *method, struct matrix x,
                const struct project_opts *opts, double *points, struct project_result *result);

/*
 * project_tell -- for the methods: call on_step when it is due.
 * Returns false when the projection is to be cancelled. project_due says whether it would call.
 */
bool project_due(const struct project_opts *opts, uint32_t iteration);
bool project_tell(const struct project_opts *opts, const struct project_step *step);

#endif
