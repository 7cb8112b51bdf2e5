/*
 * blob -- bytes that grow at the end. Where there is no memory for more is_short says so, and
 * nothing is put any more.
 */
#ifndef SNAG_TRACER_BLOB_H
#define SNAG_TRACER_BLOB_H

#include "memory.h"

#include <stdbool.h>
#include <string.h>

struct blob {
    char *data;
    size_t n, cap; /* bytes */
    bool is_short;
};

/* blob_room -- room for so many bytes more. */
static inline bool blob_room(struct blob *b, size_t n)
{
    size_t cap = 2 * b->cap + n + 4096;
    char *data;

    if (b->is_short || b->cap - b->n >= n)
        return !b->is_short;
    data = memory_resize(b->data, cap, 1);
    b->is_short = data == NULL;
    if (b->is_short)
        return false;
    b->data = data;
    b->cap = cap;
    return true;
}

static inline void blob_put(struct blob *b, const void *data, size_t n)
{
    if (!blob_room(b, n))
        return;
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

#endif
