/*
 * Open addressing with linear probing; a slot holds an id, the key is compared through it.
 * Keys may be hashes already or small counters, so they are always mixed.
 */
#include "base/idmap.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256u

/* Multiply and fold, after wyhash: one multiplication, good enough for probing. */
static size_t mix(struct key key)
{
    __uint128_t product =
        (__uint128_t)(key.high ^ 0x9e3779b97f4a7c15u) * (key.low ^ 0xe7037ed1a0b428dbu);

    return (size_t)(product ^ (product >> 64));
}

static size_t slot_of(const struct idmap *map, struct key key)
{
    size_t mask = map->n_slots - 1;
    size_t at = mix(key) & mask;

    for (; map->slot[at] != IDMAP_NONE; at = (at + 1) & mask) {
        const struct key *known = &map->key[map->slot[at]];

        if (known->high == key.high && known->low == key.low)
            break;
    }
    return at;
}

static void grow(struct idmap *map)
{
    free(map->slot);
    map->n_slots = map->n_slots ? 2 * map->n_slots : FIRST_SLOTS;
    map->slot = mem_resize(NULL, map->n_slots, sizeof *map->slot);
    memset(map->slot, 0xff, map->n_slots * sizeof *map->slot);
    for (uint32_t i = 0; i < map->n; i++)
        map->slot[slot_of(map, map->key[i])] = i;
}

void idmap_release(struct idmap *map)
{
    free(map->key);
    free(map->slot);
    *map = (struct idmap){0};
}

uint32_t idmap_add(struct idmap *map, struct key key)
{
    size_t at;

    if (map->n_slots < 2 * ((size_t)map->n + 1))
        grow(map);
    at = slot_of(map, key);
    if (map->slot[at] == IDMAP_NONE) {
        mem_grow(&map->key, &map->cap, (size_t)map->n + 1);
        map->key[map->n] = key;
        map->slot[at] = map->n++;
    }
    return map->slot[at];
}

uint32_t idmap_find(const struct idmap *map, struct key key)
{
    if (map->n == 0)
        return IDMAP_NONE;
    return map->slot[slot_of(map, key)];
}

void idmap_unpack(struct idmap *map, struct pack *pack)
{
    size_t n = unpack_count(pack, sizeof(struct key));
    struct key *key = unpack_array(pack, n, sizeof *key);

    for (uint32_t i = 0; !pack->is_bad && i < n; i++)
        pack->is_bad |= idmap_add(map, key[i]) != i;
    free(key);
}
