/* Adding 0 makes -0 into 0 before the bytes are hashed. */
#include "project/unique_rows.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <stdlib.h>
#include <string.h>

static struct key row_key(const double *row, size_t cols, double *copy)
{
    XXH128_hash_t hash;

    for (size_t c = 0; c < cols; c++)
        copy[c] = row[c] + 0.0;
    hash = XXH3_128bits(copy, cols * sizeof *copy);
    return key_pair(hash.high64, hash.low64);
}

void unique_rows_init(struct unique_rows *d, struct matrix x)
{
    double *copy = mem_alloc(x.cols + 1, sizeof *copy);
    struct idmap seen = {0};

    d->of = mem_resize(NULL, x.rows, sizeof *d->of);
    d->x = (struct matrix){NULL, x.rows, x.cols, x.cols};
    d->x.x = mem_resize(NULL, x.rows * x.cols + 1, sizeof *d->x.x);
    for (size_t i = 0; i < x.rows; i++) {
        uint32_t n_before = seen.n;

        d->of[i] = idmap_add(&seen, row_key(matrix_row(x, i), x.cols, copy));
        if (d->of[i] == n_before)
            memcpy(matrix_row(d->x, n_before), copy, x.cols * sizeof *copy);
    }
    d->n = seen.n;
    d->x.rows = seen.n;
    idmap_release(&seen);
    free(copy);
}

void unique_rows_release(struct unique_rows *d)
{
    free(d->of);
    free(d->x.x);
    *d = (struct unique_rows){0};
}

void unique_rows_spread(const struct unique_rows *d, size_t rows, const double *from,
                        double *to)
{
    for (size_t i = 0; i < rows; i++) {
        to[2 * i] = from[2 * (size_t)d->of[i]];
        to[2 * i + 1] = from[2 * (size_t)d->of[i] + 1];
    }
}
