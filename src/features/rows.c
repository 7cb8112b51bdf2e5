/* The row being written is what lies after first[n]. */
#include "features/rows.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

void rows_init(struct rows *rows, uint32_t n_cols)
{
    *rows = (struct rows){.n_cols = n_cols, .row_cap = 64};
    rows->first = mem_alloc(rows->row_cap + 2, sizeof *rows->first);
    rows->square = mem_alloc(rows->row_cap + 1, sizeof *rows->square);
}

void rows_release(struct rows *rows)
{
    free(rows->first);
    free(rows->col);
    free(rows->value);
    free(rows->square);
    *rows = (struct rows){0};
}

void rows_add(struct rows *rows, uint32_t col, double value)
{
    size_t at = rows->first[rows->n + 1], value_cap = rows->cap;

    mem_grow(&rows->value, &value_cap, at + 1, sizeof *rows->value);
    mem_grow(&rows->col, &rows->cap, at + 1, sizeof *rows->col);
    rows->col[at] = col;
    rows->value[at] = (float)value;
    rows->square[rows->n] += (double)rows->value[at] * rows->value[at];
    rows->first[rows->n + 1] = at + 1;
}

void rows_end(struct rows *rows)
{
    if (++rows->n >= rows->row_cap) {
        rows->row_cap *= 2;
        rows->first = mem_resize(rows->first, rows->row_cap + 2, sizeof *rows->first);
        rows->square = mem_resize(rows->square, rows->row_cap + 1, sizeof *rows->square);
    }
    rows->first[rows->n + 1] = rows->first[rows->n];
    rows->square[rows->n] = 0;
}

void rows_copy(struct rows *rows, const struct rows *from, uint32_t i)
{
    for (size_t e = from->first[i]; e < from->first[i + 1]; e++)
        rows_add(rows, from->col[e], from->value[e]);
    rows_end(rows);
}

void rows_scatter(const struct rows *rows, uint32_t i, double *dense)
{
    for (size_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        dense[rows->col[e]] = rows->value[e];
}

void rows_unscatter(const struct rows *rows, uint32_t i, double *dense)
{
    for (size_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        dense[rows->col[e]] = 0;
}

double rows_dot_dense(const struct rows *rows, uint32_t i, const double *dense)
{
    double sum = 0;

    for (size_t e = rows->first[i]; e < rows->first[i + 1]; e++)
        sum += rows->value[e] * dense[rows->col[e]];
    return sum;
}

void rows_pack(const struct rows *rows, struct pack *pack)
{
    size_t n = rows->first[rows->n];

    pack_u32(pack, rows->n_cols);
    pack_array(pack, rows->first, (size_t)rows->n + 1, sizeof *rows->first);
    pack_array(pack, rows->col, n, sizeof *rows->col);
    pack_array(pack, rows->value, n, sizeof *rows->value);
}

int rows_unpack(struct rows *rows, struct pack *pack)
{
    uint32_t n_cols = unpack_u32(pack);
    size_t n_first = unpack_count(pack, sizeof *rows->first), n;
    size_t *first = unpack_array(pack, n_first, sizeof *first);
    uint32_t *col = unpack_array(pack, n = unpack_count(pack, sizeof *col), sizeof *col);
    float *value = unpack_array(pack, n, sizeof *value);
    bool is_bad = pack->is_bad || n_first == 0 || first[0] != 0 || first[n_first - 1] != n;

    rows_init(rows, n_cols);
    for (size_t i = 0; !is_bad && i + 1 < n_first; i++) {
        is_bad = first[i] > first[i + 1] || first[i + 1] > n;
        for (size_t e = first[i]; !is_bad && e < first[i + 1]; e++) {
            is_bad = col[e] >= n_cols || !isfinite(value[e]);
            rows_add(rows, col[e], value[e]);
        }
        rows_end(rows);
    }
    free(first);
    free(col);
    free(value);
    return is_bad ? err_set(ERR_FORMAT, "damaged model: its examples make no sense") : 0;
}
