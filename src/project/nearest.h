/*
 * nearest -- the nearest rows of every row: exactly for a few, nearly so for very many.
 *
 * Rows are put into lists, one per pivot row, by which pivot is nearest; a row is compared with
 * its own list and with those of the pivots nearest to its own, until NEAREST_SHARE of all rows
 * have been looked at. With one list that is everything. Products of blocks of rows by BLAS say
 * which are near; the distances of those that are kept are then computed directly.
 *
 * Source: Sivic, Zisserman: Video Google, ICCV 2003 (inverted lists).
 */
#ifndef SNAG_PROJECT_NEAREST_H
#define SNAG_PROJECT_NEAREST_H

#include "base/matrix.h"
#include "base/pool.h"

#include <stddef.h>
#include <stdint.h>

#define NEAREST_EXACT 20000  /* up to so many rows are compared with all others */
#define NEAREST_SHARE 0.0625 /* of the rows that others are compared with */

struct nearest {
    size_t rows, k;
    uint32_t *index; /* (rows, k) nearest first, the row itself left out; ties by index */
    double *square;  /* (rows, k) squared distances */
};

/*
 * nearest_find -- search.
 *   x       (rows, cols) finite, rows different from each other
 *   k       1 <= k < rows
 *   n_exact up to so many rows every row is compared with all others: NEAREST_EXACT
 *   seed    of the choice of pivots
 *   out     released by nearest_release
 * Time O(rows^2 cols), or above n_exact O(NEAREST_SHARE rows^2 cols). The same on any number of
 * threads.
 */
void nearest_find(struct matrix x, size_t k, size_t n_exact, uint64_t seed, struct pool *pool,
                  struct nearest *out);
void nearest_release(struct nearest *nearest);

#endif
