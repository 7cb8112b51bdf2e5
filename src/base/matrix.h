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

#endif
