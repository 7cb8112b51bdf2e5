/*
 * rows -- a sparse matrix, row by row: what learners weigh executions by.
 *
 * An execution has tens of entries where there are thousands of columns, so most of a dense row
 * would be zeros.
 */
#ifndef SNAG_FEATURES_ROWS_H
#define SNAG_FEATURES_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct rows {
    uint32_t n, n_cols;
    size_t *first; /* [n + 1] */
    uint32_t *col; /* [first[n]] < n_cols, each once in a row, in the order they were added */
    float *value;  /* [first[n]] */
    size_t row_cap, cap;
};

/* rows_init -- no rows yet. */
void rows_init(struct rows *rows, uint32_t n_cols);
void rows_release(struct rows *rows);

/* rows_add -- one more entry of the row that is being written; zeros may be left out. */
void rows_add(struct rows *rows, uint32_t col, double value);

/* rows_end -- the row is complete; the next entries belong to the next one. */
void rows_end(struct rows *rows);

/* rows_dot -- product of row i with a dense one of n columns; what is beyond them is left out.
 */
double rows_dot(const struct rows *rows, uint32_t i, const double *dense, uint32_t n);

/* rows_add_to -- add row i, times a number, to such a dense one. */
void rows_add_to(const struct rows *rows, uint32_t i, double times, double *dense, uint32_t n);

#endif
