/* matrix -- a row-major view of numbers that owns nothing. */
#ifndef SNAG_BASE_MATRIX_H
#define SNAG_BASE_MATRIX_H

#include <stddef.h>

struct matrix {
    double *x; /* (rows, cols), row i starts at x + i * stride */
    size_t rows, cols;
    size_t stride; /* >= cols */
};

static inline double *matrix_row(struct matrix m, size_t i)
{
    return m.x + i * m.stride;
}

/* matrix_square_between -- of the distance of two rows of so many columns. */
static inline double matrix_square_between(const double *a, const double *b, size_t cols)
{
    double sum = 0;

    for (size_t c = 0; c < cols; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

#endif
