/*
 * names -- strings on entry become small numbers, and stay so.
 *
 * Ids are dense and given in order of first appearance, so that the same input gives the same
 * ids on any run. A zeroed struct is empty and ready.
 */
#ifndef SNAG_BASE_NAMES_H
#define SNAG_BASE_NAMES_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

struct names {
    uint32_t n;        /* names known */
    const char **name; /* [n] zero-terminated, valid until names_release */
    size_t cap;
    uint32_t *slot; /* open addressing over ids; NAMES_NONE is free */
    size_t n_slots; /* a power of two, at least 2 n */
    struct arena text;
};

/* names_release -- free everything; empty and ready again. */
void names_release(struct names *names);

/* names_add -- the id of text, new if it was not known. Any bytes but zero. O(length). */
uint32_t names_add(struct names *names, const char *text);

/* names_find -- the id of text, or NAMES_NONE. O(length). */
uint32_t names_find(const struct names *names, const char *text);

#endif
