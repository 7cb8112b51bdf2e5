/*
 * idmap -- 128-bit keys become small numbers: subtree hashes, call paths, message channels.
 *
 * Ids are dense and given in order of first appearance. A zeroed struct is empty and ready.
 */
#ifndef SNAG_BASE_IDMAP_H
#define SNAG_BASE_IDMAP_H

#include "base/pack.h"

#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE UINT32_MAX

struct key {
    uint64_t high, low;
};

struct idmap {
    uint32_t n;      /* keys known */
    struct key *key; /* [n] */
    size_t cap;
    uint32_t *slot; /* open addressing over ids; IDMAP_NONE is free */
    size_t n_slots; /* a power of two, at least 2 n */
};

/* idmap_release -- free everything; empty and ready again. */
void idmap_release(struct idmap *map);

/* idmap_add -- the id of key, new (== the old map->n) if it was not known. O(1). */
uint32_t idmap_add(struct idmap *map, struct key key);

/* idmap_find -- the id of key, or IDMAP_NONE. O(1). */
uint32_t idmap_find(const struct idmap *map, struct key key);

/* idmap_unpack -- into one that is empty: its keys in the order of their ids, as pack_array put
 * them. One that is there twice makes the pack bad. */
void idmap_unpack(struct idmap *map, struct pack *pack);

/* key_pair, key_quad -- keys made of two or four numbers. */
static inline struct key key_pair(uint64_t a, uint64_t b)
{
    return (struct key){.high = a, .low = b};
}

static inline struct key key_quad(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return key_pair((uint64_t)a << 32 | b, (uint64_t)c << 32 | d);
}

#endif
