/*
 * iforest -- isolation forest: how few random cuts does it take to have a row alone.
 */
#ifndef SNAG_DETECT_IFOREST_H
#define SNAG_DETECT_IFOREST_H

#include "base/matrix.h"
#include "base/pool.h"

#include <stddef.h>
#include <stdint.h>

struct iforest_opts {
    uint32_t n_trees; /* 0 for 200 */
    uint32_t n_rows;  /* drawn for each tree; 0 for 256, at most all */
    uint64_t seed;
};

/*
 * iforest_score -- 2^-(E[h] / c), h the cuts to isolate a row in one tree.
 *   x      (rows, cols)
 *   score  [rows] out, in 0..1; about 0.5 when nothing is strange, towards 1 for an outlier
 * Returns 0, or ERR_RANGE if a value is not finite or there are fewer than 2 rows. Time O(trees
 * (rows + n_rows) log n_rows). The same for a seed on any number of threads.
 * Source: Liu, Ting, Zhou: Isolation Forest. ICDM 2008, algorithms 1-3. Departs from it: a
 * column in which the rows of a node are all equal is not cut, as in scikit-learn.
 */
int iforest_score(struct matrix x, const struct iforest_opts *opts, struct pool *pool,
                  double *score);

#endif
