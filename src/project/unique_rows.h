/*
 * unique_rows -- rows of a matrix that are equal, as one.
 *
 * Executions that did the same are described by the same numbers, often thousands of them.
 */
#ifndef SNAG_PROJECT_UNIQUE_ROWS_H
#define SNAG_PROJECT_UNIQUE_ROWS_H

#include "base/matrix.h"

#include <stdint.h>

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

#endif
