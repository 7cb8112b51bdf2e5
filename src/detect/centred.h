/*
 * centred -- a packed copy of a matrix with the mean of every column taken away.
 *
 * Distances stay as they are, while lengths become as small as they can be, so that fewest
 * digits are lost in |x|^2 + |y|^2 - 2 xy.
 */
#ifndef SNAG_DETECT_CENTRED_H
#define SNAG_DETECT_CENTRED_H

#include "base/matrix.h"

struct centred {
    struct matrix x;
    double *mean;   /* [cols] what was taken away */
    double *norm;   /* [rows] squared lengths */
    double longest; /* the largest of them */
};

/* centred_init -- copy x; without rows the mean is 0. O(rows cols). */
void centred_init(struct centred *centred, struct matrix x);
void centred_release(struct centred *centred);

/*
 * centred_row -- take mean away from one row.
 *   mean, row  (cols)
 *   to         (cols) out
 * Returns the squared length of what is left.
 */
double centred_row(const double *mean, const double *row, size_t cols, double *to);

/* centred_check -- 0, or ERR_RANGE that names the first value which is not finite. */
int centred_check(struct matrix x);

/* centred_check_products -- the same, or as blas_load: rows are compared by products of matrices. */
int centred_check_products(struct matrix x);

#endif
