/*
 * neighbours -- the k nearest rows of every row of a matrix, exactly, and how strange a row is
 * by them (lof, knn).
 *
 * Squared distances are first had in bulk, as |x|^2 + |y|^2 - 2 xy with a matrix product per
 * block; that loses digits when rows are close. So a few more than k candidates are kept per
 * row and their distances computed again, directly; where the lost digits could have hidden a
 * nearer row, the row is searched again with more digits, at last by comparing it with all.
 */
#ifndef SNAG_DETECT_NEIGHBOURS_H
#define SNAG_DETECT_NEIGHBOURS_H

#include "base/matrix.h"
#include "base/pool.h"

#include <stddef.h>
#include <stdint.h>

struct neighbours {
    size_t rows, k;
    uint32_t *index;  /* (rows, k) nearest first, the row itself left out; ties by index */
    double *distance; /* (rows, k) Euclidean */
};

/*
 * neighbours_find -- search all rows against all.
 *   x     (rows, cols) finite, rows < 2^32
 *   k     1 <= k < rows
 *   out   released by neighbours_release
 * Returns 0, ERR_RANGE if k does not fit the rows or a value is not finite, or as blas_load. Time O(rows^2
 * cols), memory O(rows k) and a few MiB per thread. The same on any number of threads.
 */
int neighbours_find(struct matrix x, size_t k, struct pool *pool, struct neighbours *out);
void neighbours_release(struct neighbours *neighbours);

/*
 * lof_score -- local outlier factor of every row, against the rows themselves: how much emptier
 * is it around a row than around its neighbours.
 *   neighbours  of the rows (neighbours_find)
 *   score       (rows) out; about 1 for an inlier, larger is more anomalous
 * Time and memory O(rows k). Thread-safe.
 * Source: Breunig, Kriegel, Ng, Sander. LOF: Identifying Density-Based Local Outliers.
 * SIGMOD 2000, definitions 3-7. Departs from it: ties at the k-distance are cut at k, and a
 * density is at most 1e10, as in scikit-learn, whose values these are.
 */
void lof_score(const struct neighbours *neighbours, double *score);

/*
 * knn_score -- mean distance of every row to its k nearest: how far it is from where rows
 * typically are.
 *   score  (rows) out, >= 0, larger is more anomalous
 * Source: Angiulli, Pizzuti. Fast Outlier Detection in High Dimensional Spaces. PKDD 2002.
 */
void knn_score(const struct neighbours *neighbours, double *score);

#endif
