/*
 * rows -- a sparse matrix, row by row: what learners compare executions by.
 *
 * An execution has tens of call paths where the program has thousands, so most of a dense row
 * would be zeros.
 */
#ifndef SNAG_FEATURES_ROWS_H
#define SNAG_FEATURES_ROWS_H

#include "base/matrix.h"
#include "base/pack.h"

#include <stddef.h>
#include <stdint.h>

struct rows {
    uint32_t n, n_cols;
    size_t *first;  /* [n + 1] */
    uint32_t *col;  /* [first[n]] < n_cols, each once in a row, in any order */
    float *value;   /* [first[n]] */
    double *square; /* [n] squared length of the row */
    size_t row_cap, cap;
};

/* rows_init -- no rows yet. */
void rows_init(struct rows *rows, uint32_t n_cols);
void rows_release(struct rows *rows);

/* rows_add -- one more entry of the row that is being written; zeros may be left out. */
void rows_add(struct rows *rows, uint32_t col, double value);

/* rows_end -- the row is complete; the next entries belong to the next one. */
void rows_end(struct rows *rows);

/* rows_copy -- append row i of another matrix of as many columns. */
void rows_copy(struct rows *rows, const struct rows *from, uint32_t i);

/*
 * rows_scatter -- write row i to a dense array of n_cols zeros; rows_unscatter makes it zero
 * again. rows_dot_dense is the product of row i with such an array.
 */
void rows_scatter(const struct rows *rows, uint32_t i, double *dense);
void rows_unscatter(const struct rows *rows, uint32_t i, double *dense);
double rows_dot_dense(const struct rows *rows, uint32_t i, const double *dense);

/* rows_pack, rows_unpack -- to bytes and back. Returns 0 or ERR_FORMAT. */
void rows_pack(const struct rows *rows, struct pack *pack);
int rows_unpack(struct rows *rows, struct pack *pack);

#endif
