/*
 * blob -- numbers and strings in a row of bytes, to go from one rank to another.
 *
 * Writing appends. Reading goes from the front; past the end it gives zeros and empty strings
 * and sets is_short, so that a reader may check once, at the end. Numbers are as this machine
 * writes them.
 */
#ifndef SNAG_TRACER_BLOB_H
#define SNAG_TRACER_BLOB_H

#include "complain.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct blob {
    char *data;
    size_t n, cap; /* bytes */
    size_t at;     /* where reading is */
    bool is_short;
};

static inline void blob_release(struct blob *b)
{
    free(b->data);
    *b = (struct blob){0};
}

static inline void blob_put(struct blob *b, const void *data, size_t n)
{
    if (b->cap - b->n < n) {
        b->cap = 2 * b->cap + n + 1024;
        b->data = must_resize(b->data, b->cap, 1);
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static inline void blob_put_number(struct blob *b, uint64_t number)
{
    blob_put(b, &number, sizeof number);
}

static inline void blob_put_string(struct blob *b, const char *text)
{
    blob_put(b, text, strlen(text) + 1);
}

static inline uint64_t blob_number(struct blob *b)
{
    uint64_t number = 0;

    if (b->n - b->at < sizeof number) {
        b->is_short = true;
        return 0;
    }
    memcpy(&number, b->data + b->at, sizeof number);
    b->at += sizeof number;
    return number;
}

/* The string lies in the blob. */
static inline const char *blob_string(struct blob *b)
{
    const char *text = b->data + b->at;
    const char *end = b->n > b->at ? memchr(text, '\0', b->n - b->at) : NULL;

    if (end == NULL) {
        b->is_short = true;
        return "";
    }
    b->at += (size_t)(end - text) + 1;
    return text;
}

#endif
