/* A communicator's parent and an object's file have lower numbers in the process, so theirs in
 * the archive are known when it comes. */
#include "trace/tracer/unify.h"

#include "base/checksum.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add_region(struct unified *u, const struct recording *from,
                           const struct recorded_region *r)
{
    uint32_t n = u->region_name.n, id = names_add(&u->region_name, r->name);

    if (id < n)
        return id;
    mem_grow(&u->region, &u->cap_regions, (size_t)id + 1, sizeof *u->region);
    u->region[id] = (struct unified_region){.as = r,
                                            .code = r->code ? &from->code[r->code - 1] : NULL,
                                            .file = r->file,
                                            .line = r->line};
    return id;
}

static uint32_t new_communicator(struct unified *u, struct unified_communicator c)
{
    c.group = UNIFY_FIRST_GROUP + u->n_groups++;
    mem_grow(&u->communicator, &u->cap_communicators, u->n_communicators + 1,
             sizeof *u->communicator);
    u->communicator[u->n_communicators] = c;
    return (uint32_t)u->n_communicators++;
}

/* The communicator with this pair, defined anew if it is not known. */
static uint32_t find_communicator(struct unified *u, const struct unified_communicator *c)
{
    uint32_t n = u->pair.n, at = idmap_add(&u->pair, key_pair(c->first_rank, c->number));

    if (at == n) {
        mem_grow(&u->of_pair, &u->cap_pairs, (size_t)at + 1, sizeof *u->of_pair);
        u->of_pair[at] = new_communicator(u, *c);
    }
    return u->of_pair[at];
}

static uint32_t add_communicator(struct unified *u, const struct recorded_communicator *c,
                                 uint32_t local, const uint32_t *so_far)
{
    struct unified_communicator one = {.first_rank = c->first_rank,
                                       .number = c->number,
                                       .parent =
                                           c->parent < local ? so_far[c->parent] : UNIFY_NONE,
                                       .size = c->size,
                                       .run = c->run,
                                       .n_runs = c->n_runs,
                                       .name = c->name};
    uint32_t id;

    /* each rank has one of these, which in an archive are one */
    if (local == UNIFY_SELF && u->n_communicators > UNIFY_SELF)
        return UNIFY_SELF;
    id = local == UNIFY_SELF ? new_communicator(u, one) : find_communicator(u, &one);
    if (*u->communicator[id].name == '\0')
        u->communicator[id].name = c->name;
    return id;
}

static uint32_t add_team(struct unified *u, const struct recording *from, uint32_t i)
{
    struct unified_communicator team = {.first_rank = from->head->rank,
                                        .number = UNIFY_TEAM + i,
                                        .parent = UNIFY_NONE,
                                        .name = "",
                                        .team = &from->team[i]};

    return find_communicator(u, &team);
}

/* The place of an object, which is defined anew if it is not known. */
static uint32_t find_object(struct unified *u, struct unified_object o)
{
    uint32_t known_by[] = {o.kind, o.communicator, o.number, o.file};
    uint32_t n = u->object_key.n, at;

    at = idmap_add(&u->object_key,
                   key_pair(checksum_of(known_by, sizeof known_by), checksum_of(o.bytes, o.n)));
    if (at < n)
        return u->of_key[at];
    mem_grow(&u->of_key, &u->cap_keys, (size_t)at + 1, sizeof *u->of_key);
    o.place =
        o.kind == TRACER_GROUP ? UNIFY_FIRST_GROUP + u->n_groups++ : u->n_of_kind[o.kind]++;
    u->of_key[at] = o.place;
    mem_grow(&u->object, &u->cap_objects, u->n_objects + 1, sizeof *u->object);
    u->object[u->n_objects++] = o;
    return o.place;
}

static uint32_t add_object(struct unified *u, const struct recording *from, uint32_t i,
                           const struct unified_map *map)
{
    const struct recorded_object *r = &from->object[i];
    struct unified_object o = {.kind = r->kind,
                               .number = r->number,
                               .communicator = r->communicator < from->n_communicators
                                                   ? map->communicator[r->communicator]
                                                   : UNIFY_NONE,
                               .file = r->file < i && from->object[r->file].kind == TRACER_FILE
                                           ? map->object[r->file]
                                           : UNIFY_NONE,
                               .bytes = r->bytes,
                               .n = r->n};

    if (o.kind == TRACER_HANDLE && o.file == UNIFY_NONE) /* damaged */
        o = (struct unified_object){.kind = TRACER_GROUP, .file = UNIFY_NONE};
    return find_object(u, o);
}

void unify_add(struct unified *u, const struct recording *from, struct unified_map *map)
{
    *map = (struct unified_map){.region = mem_alloc(from->n_regions, sizeof *map->region),
                                .communicator =
                                    mem_alloc(from->n_communicators, sizeof *map->communicator),
                                .team = mem_alloc(from->n_teams, sizeof *map->team),
                                .object = mem_alloc(from->n_objects, sizeof *map->object)};
    for (uint32_t i = 0; i < from->n_regions; i++)
        map->region[i] = add_region(u, from, &from->region[i]);
    for (uint32_t i = 0; i < from->n_communicators; i++)
        map->communicator[i] =
            add_communicator(u, &from->communicator[i], i, map->communicator);
    for (uint32_t i = 0; i < from->n_teams; i++)
        map->team[i] = add_team(u, from, i);
    for (uint32_t i = 0; i < from->n_objects; i++)
        map->object[i] = add_object(u, from, i, map);
}

void unified_map_release(struct unified_map *map)
{
    free(map->region);
    free(map->communicator);
    free(map->team);
    free(map->object);
    *map = (struct unified_map){0};
}

void unified_release(struct unified *u)
{
    names_release(&u->region_name);
    idmap_release(&u->pair);
    idmap_release(&u->object_key);
    free(u->region);
    free(u->communicator);
    free(u->object);
    free(u->of_pair);
    free(u->of_key);
    *u = (struct unified){0};
}
