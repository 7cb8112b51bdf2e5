/*
 * rbf -- the Gaussian kernel exp(-gamma |x - y|^2) between rows of matrices, many at a time.
 *
 * Products of rows are computed as one matrix product per block and in double precision: in
 * single precision the digits that |x|^2 + |y|^2 - 2 xy loses would blur the kernel of rows
 * that are equal or nearly so, and most executions are. The values themselves, in 0..1, are
 * kept as floats.
 */
#ifndef SNAG_DETECT_RBF_H
#define SNAG_DETECT_RBF_H

#include "base/pool.h"
#include "detect/centred.h"

#include <stddef.h>
#include <stdint.h>

struct rbf {
    const struct centred *points;
    double gamma;
    struct pool *pool;
};

/*
 * rbf_gamma -- the kernel width taken from the data: 1 / (cols variance), the variance that of
 * all values of the matrix together. 1 if they are all equal.
 */
double rbf_gamma(struct matrix x);

/*
 * rbf_rows -- rows of the kernel matrix of all points with each other.
 *   which  [n] the points
 *   row    [n] out, each [points->x.rows]
 * Time O(n rows cols). The same on any number of threads.
 */
void rbf_rows(const struct rbf *rbf, const uint32_t *which, size_t n, float *const *row);

/*
 * rbf_sums -- sum over the points j of weight[j] k(point j, row), for every row of a matrix.
 *   weight  [points->x.rows]
 *   x       (rows, points->x.cols), not centred
 *   sum     [x.rows] out
 * Time O(rows points cols). The same on any number of threads.
 */
void rbf_sums(const struct rbf *rbf, const double *weight, struct matrix x, double *sum);

/* Rows of a kernel matrix, computed when asked for and kept while there is room. */
struct rbf_cache;

/*
 * rbf_cache_new -- an empty cache.
 *   rbf       lives as long as the cache
 *   bytes     room for rows; there are always at least least_rows of them
 */
struct rbf_cache *rbf_cache_new(const struct rbf *rbf, size_t bytes, size_t least_rows);

/* rbf_cache_free -- NULL is harmless. */
void rbf_cache_free(struct rbf_cache *cache);

/* rbf_cache_room -- rows it can hold at once. */
size_t rbf_cache_room(const struct rbf_cache *cache);

/*
 * rbf_cache_fetch -- rows of the kernel matrix; those that are missing in one go.
 *   which  [n] different points, n <= rbf_cache_room()
 *   row    [n] out, each [points]; they stay until the next fetch
 */
void rbf_cache_fetch(struct rbf_cache *cache, const uint32_t *which, size_t n,
                     const float **row);

/* rbf_cache_computed -- rows computed so far, for measuring. */
size_t rbf_cache_computed(const struct rbf_cache *cache);

#endif
