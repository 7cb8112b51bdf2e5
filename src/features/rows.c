/* The row being written is what lies after first[n]. */
#include "features/rows.h"

#include "base/mem.h"

#include <stdlib.h>

void rows_init(struct rows *rows, uint32_t n_cols)
{
    *rows = (struct rows){.n_cols = n_cols, .row_cap = 64};
    rows->first = mem_alloc(rows->row_cap + 2, sizeof *rows->first);
}

void rows_release(struct rows *rows)
{
    free(rows->first);
    free(rows->col);
    free(rows->value);
    *rows = (struct rows){0};
}

void rows_add(struct rows *rows, uint32_t col, double value)
{
    size_t at = rows->first[rows->n + 1], value_cap = rows->cap;

    mem_grow(&rows->value, &value_cap, at + 1);
    mem_grow(&rows->col, &rows->cap, at + 1);
    rows->col[at] = col;
    rows->value[at] = (float)value;
    rows->first[rows->n + 1] = at + 1;
}

void rows_end(struct rows *rows)
{
    if (++rows->n >= rows->row_cap) {
        rows->row_cap *= 2;
        rows->first = mem_resize(rows->first, rows->row_cap + 2, sizeof *rows->first);
    }
    rows->first[rows->n + 1] = rows->first[rows->n];
}

double rows_dot(const struct rows *rows, uint32_t i, const double *dense, uint32_t n)
{
    double sum = 0;

    for (size_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        if (rows->col[e] < n)
            sum += (double)rows->value[e] * dense[rows->col[e]];
    return sum;
}

void rows_add_to(const struct rows *rows, uint32_t i, double times, double *dense, uint32_t n)
{
    for (size_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        if (rows->col[e] < n)
            dense[rows->col[e]] += times * (double)rows->value[e];
}
