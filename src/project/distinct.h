/*
 * distinct -- rows of a matrix that are equal, as one.
 *
 * Executions that did the same are described by the same numbers, often thousands of them.
 */
#ifndef SNAG_PROJECT_DISTINCT_H
#define SNAG_PROJECT_DISTINCT_H

#include "base/matrix.h"

#include <stdint.h>

struct distinct {
    uint32_t n;      /* different rows */
    uint32_t *of;    /* [rows] which of them each row is */
    struct matrix x; /* (n, cols) those rows, in order of first appearance; its own */
};

/* distinct_init -- find equal rows (0 and -0 are equal) by 128-bit hash. O(rows cols). */
void distinct_init(struct distinct *d, struct matrix x);
void distinct_release(struct distinct *d);

/* distinct_spread -- points (n, 2) of the different rows to those of all rows, (rows, 2). */
void distinct_spread(const struct distinct *d, size_t rows, const double *from, double *to);

#endif
