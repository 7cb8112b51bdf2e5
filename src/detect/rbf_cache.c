/* What is thrown out is found as by a clock's hand, passing over what the fetch itself wants.
 */
#include "detect/rbf_cache.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct slot {
    uint32_t point;
    uint64_t fetch; /* the last one that wanted it */
    float *row;
};

struct rbf_cache {
    const struct rbf *rbf;
    size_t room, n_slots, hand, n_computed;
    uint64_t fetch;
    struct slot *slot; /* [room], n_slots in use */
    uint32_t *slot_of; /* [points], or NONE */
};

struct rbf_cache *rbf_cache_new(const struct rbf *rbf, size_t bytes, size_t least_rows)
{
    struct rbf_cache *cache = mem_alloc(1, sizeof *cache);
    size_t n = rbf->points->x.rows, room = n ? bytes / (n * sizeof(float)) : 0;

    room = room > least_rows ? room : least_rows;
    cache->rbf = rbf;
    cache->room = room < n ? room : n;
    cache->slot = mem_alloc(cache->room, sizeof *cache->slot);
    cache->slot_of = mem_resize(NULL, n, sizeof *cache->slot_of);
    for (size_t i = 0; i < n; i++)
        cache->slot_of[i] = NONE;
    return cache;
}

void rbf_cache_free(struct rbf_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < cache->n_slots; i++)
        free(cache->slot[i].row);
    free(cache->slot);
    free(cache->slot_of);
    free(cache);
}

size_t rbf_cache_room(const struct rbf_cache *cache)
{
    return cache->room;
}

size_t rbf_cache_computed(const struct rbf_cache *cache)
{
    return cache->n_computed;
}

/* A slot for a row that is not there; an older row may lose it. */
static uint32_t take_slot(struct rbf_cache *cache, uint32_t point)
{
    struct slot *slot;
    size_t at;

    if (cache->n_slots < cache->room) {
        at = cache->n_slots++;
        cache->slot[at].row = mem_resize(NULL, cache->rbf->points->x.rows, sizeof(float));
    } else {
        while (cache->slot[cache->hand].fetch == cache->fetch)
            cache->hand = (cache->hand + 1) % cache->room;
        at = cache->hand;
        cache->slot_of[cache->slot[at].point] = NONE;
    }
    slot = &cache->slot[at];
    slot->point = point;
    slot->fetch = cache->fetch;
    return (uint32_t)at;
}

void rbf_cache_fetch(struct rbf_cache *cache, const uint32_t *which, size_t n,
                     const float **row)
{
    uint32_t *missing = mem_alloc(n, sizeof *missing);
    float **to = mem_alloc(n, sizeof *to);
    size_t n_missing = 0;

    assert(n <= cache->room);
    cache->fetch++;
    for (size_t i = 0; i < n; i++)
        if (cache->slot_of[which[i]] != NONE)
            cache->slot[cache->slot_of[which[i]]].fetch = cache->fetch;
    for (size_t i = 0; i < n; i++) {
        if (cache->slot_of[which[i]] == NONE) {
            cache->slot_of[which[i]] = take_slot(cache, which[i]);
            missing[n_missing] = which[i];
            to[n_missing++] = cache->slot[cache->slot_of[which[i]]].row;
        }
        row[i] = cache->slot[cache->slot_of[which[i]]].row;
    }
    rbf_rows(cache->rbf, missing, n_missing, to);
    cache->n_computed += n_missing;
    free(missing);
    free(to);
}
