/*
 * named -- tables of what may be chosen when the program runs: rows whose first member is their name.
 *
 *     static const struct detector_ops detectors[] = {{"residual", ...}, {"lof", ...}};
 *
 *     return named_find(NAMED(detectors), name);
 */
#ifndef SNAG_BASE_NAMED_H
#define SNAG_BASE_NAMED_H

#include <stddef.h>
#include <string.h>

/* A table of rows of any type that begin with a const char *. */
struct named_table {
    const void *row; /* [n] */
    size_t n, row_bytes;
};

#define NAMED(rows)                                                                            \
    (struct named_table)                                                                       \
    {                                                                                          \
        (rows), sizeof(rows) / sizeof *(rows), sizeof *(rows)                                  \
    }

/* named_at -- the name of row i; NULL if there are not so many. */
static inline const char *named_at(struct named_table table, size_t i)
{
    const char *row = table.row;

    return i < table.n ? *(const char *const *)(row + i * table.row_bytes) : NULL;
}

/* named_find -- the row of this name, or NULL. O(rows). */
static inline const void *named_find(struct named_table table, const char *name)
{
    for (size_t i = 0; i < table.n; i++)
        if (strcmp(named_at(table, i), name) == 0)
            return (const char *)table.row + i * table.row_bytes;
    return NULL;
}

#endif
