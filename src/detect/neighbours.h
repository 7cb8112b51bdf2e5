/*
 * neighbours -- the k nearest rows of every row of a matrix, exactly.
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
 * Returns 0, or ERR_RANGE if k does not fit the rows or a value is not finite. Time O(rows^2
 * cols), memory O(rows k) and a few MiB per thread. The same on any number of threads.
 */
int neighbours_find(struct matrix x, size_t k, struct pool *pool, struct neighbours *out);
void neighbours_release(struct neighbours *neighbours);

#endif
