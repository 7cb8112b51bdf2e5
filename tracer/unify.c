/* Everything is packed in the order in which it is needed again: a communicator's parent and an
 * object's file have lower local numbers, so theirs in the archive are known when it comes. */
#include "unify.h"

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

    while (*text)
        h = (h ^ (unsigned char)*text++) * 0x100000001b3u;
    return h ^ h >> 32;
}

/* -------------------------------------------------------------------------------- packing */

static void pack_communicator(struct blob *to, const struct communicator *c, bool has_members)
{
    uint32_t size = has_members ? c->size : 0;

    blob_put_number(to, c->first_rank);
    blob_put_number(to, c->number);
    blob_put_number(to, c->parent);
    blob_put_string(to, c->name ? c->name : "");
    blob_put_number(to, size);
    blob_put(to, c->member, size * sizeof *c->member);
}

static void pack_object(struct blob *to, const struct object *o)
{
    blob_put_number(to, o->kind);
    blob_put_number(to, o->communicator);
    blob_put_number(to, o->number);
    blob_put_number(to, o->file);
    blob_put_number(to, o->n);
    blob_put(to, o->bytes, o->n);
}

void unify_pack(struct blob *to, const struct knowledge *from)
{
    blob_put_number(to, from->rank);
    blob_put_string(to, from->host);
    blob_put_number(to, (uint64_t)from->realtime_ns);
    blob_put_number(to, from->n_locations);
    for (uint32_t i = 0; i < from->n_locations; i++) {
        blob_put_number(to, from->location[i].thread);
        blob_put_number(to, from->location[i].n_events);
        blob_put_number(to, from->location[i].first_ns);
        blob_put_number(to, from->location[i].last_ns);
        blob_put_number(to, from->location[i].processor_ns);
        blob_put_number(to, from->location[i].cost_ns);
        blob_put_number(to, from->location[i].once_ns);
        blob_put_number(to, from->location[i].n_polls);
    }
    blob_put_number(to, from->n_regions);
    for (uint32_t i = 0; i < from->n_regions; i++) {
        blob_put_string(to, from->region[i].name);
        blob_put_number(to, from->region[i].n_plain);
        blob_put_number(to, from->region[i].role);
        blob_put_number(to, from->region[i].paradigm);
        blob_put_string(to, from->region[i].file ? from->region[i].file : "");
        blob_put_number(to, from->region[i].line);
    }
    blob_put_number(to, from->n_left_out);
    for (uint32_t i = 0; i < from->n_left_out; i++) {
        blob_put_number(to, from->left_out[i].region);
        blob_put_number(to, from->left_out[i].from_ns);
        blob_put_number(to, from->left_out[i].n_calls);
    }
    blob_put_number(to, from->n_communicators);
    for (uint32_t i = 0; i < from->n_communicators; i++)
        pack_communicator(to, &from->communicator[i],
                          from->has_all_members ||
                              from->communicator[i].first_rank == from->rank);
    blob_put_number(to, from->n_objects);
    for (uint32_t i = 0; i < from->n_objects; i++)
        pack_object(to, &from->object[i]);
}

/* --------------------------------------------------------------------------------- adding */

static size_t slot_of(const struct unified *u, const char *name)
{
    size_t at = (size_t)hash(name) & (u->n_slots - 1);

    while (u->slot[at] && strcmp(u->region[u->slot[at] - 1].name, name) != 0)
        at = (at + 1) & (u->n_slots - 1);
    return at;
}

static void grow_slots(struct unified *u)
{
    u->n_slots = u->n_slots ? 2 * u->n_slots : 1024;
    u->slot = must_resize(u->slot, u->n_slots, sizeof *u->slot);
    memset(u->slot, 0, u->n_slots * sizeof *u->slot);
    for (uint32_t i = 0; i < u->n_regions; i++)
        u->slot[slot_of(u, u->region[i].name)] = i + 1;
}

static uint32_t add_region(struct unified *u, struct blob *from)
{
    const char *name = blob_string(from);
    uint32_t n_plain = (uint32_t)blob_number(from);
    OTF2_RegionRole role = (OTF2_RegionRole)blob_number(from);
    OTF2_Paradigm paradigm = (OTF2_Paradigm)blob_number(from);
    const char *file = blob_string(from);
    uint32_t line = (uint32_t)blob_number(from);
    size_t at;

    if (u->n_slots < 2 * ((size_t)u->n_regions + 1))
        grow_slots(u);
    at = slot_of(u, name);
    if (u->slot[at] == 0) {
        if ((u->n_regions & (u->n_regions - 1)) == 0) /* full at each power of two */
            u->region = must_resize(u->region, 2 * (size_t)u->n_regions + 1, sizeof *u->region);
        u->region[u->n_regions] = (struct region){.name = must_copy(name),
                                                  .n_plain = n_plain,
                                                  .role = role,
                                                  .paradigm = paradigm,
                                                  .file = must_copy(file),
                                                  .line = line};
        u->slot[at] = ++u->n_regions;
    }
    return u->slot[at] - 1;
}

static size_t slot_of_communicator(const struct unified *u, const struct communicator *c)
{
    uint64_t h = ((uint64_t)c->first_rank << 32 ^ c->number) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(h ^ h >> 32) & (u->n_communicator_slots - 1);

    for (; u->communicator_slot[at]; at = (at + 1) & (u->n_communicator_slots - 1)) {
        const struct communicator *there = &u->communicator[u->communicator_slot[at] - 1];

        if (there->first_rank == c->first_rank && there->number == c->number)
            break;
    }
    return at;
}

static void grow_communicator_slots(struct unified *u)
{
    u->n_communicator_slots = u->n_communicator_slots ? 2 * u->n_communicator_slots : 256;
    u->communicator_slot = must_resize(u->communicator_slot, u->n_communicator_slots,
                                       sizeof *u->communicator_slot);
    memset(u->communicator_slot, 0, u->n_communicator_slots * sizeof *u->communicator_slot);
    for (uint32_t i = 0; i < u->n_communicators; i++)
        u->communicator_slot[slot_of_communicator(u, &u->communicator[i])] = i + 1;
}

/* The number of the communicator with this pair, defined anew if it is not known. Each rank
 * has an MPI_COMM_SELF, which in an archive are one. */
static uint32_t find_communicator(struct unified *u, const struct communicator *c, bool is_self)
{
    size_t at;

    if (is_self && u->n_communicators > COMMUNICATOR_SELF)
        return COMMUNICATOR_SELF;
    if (u->n_communicator_slots < 2 * ((size_t)u->n_communicators + 1))
        grow_communicator_slots(u);
    at = slot_of_communicator(u, c);
    if (u->communicator_slot[at] && !is_self)
        return u->communicator_slot[at] - 1;
    if (u->communicator_slot[at] == 0)
        u->communicator_slot[at] = u->n_communicators + 1;
    u->communicator =
        must_resize(u->communicator, u->n_communicators + 1, sizeof *u->communicator);
    u->communicator[u->n_communicators] = *c;
    u->communicator[u->n_communicators].group = UNIFIED_FIRST_GROUP + u->n_groups++;
    return u->n_communicators++;
}

static uint32_t add_communicator(struct unified *u, struct blob *from, uint32_t local,
                                 const uint32_t *so_far)
{
    struct communicator c = {.first_rank = (uint32_t)blob_number(from),
                             .number = (uint32_t)blob_number(from)};
    uint32_t parent = (uint32_t)blob_number(from), id;
    const char *name = blob_string(from);
    uint64_t size = blob_number(from);

    c.parent = parent < local ? so_far[parent] : COMMUNICATOR_NONE;
    id = find_communicator(u, &c, local == COMMUNICATOR_SELF && !communicator_is_team(&c));
    if (size > (from->n - from->at) / sizeof *c.member) {
        from->is_short = true;
        return id;
    }
    if (size && u->communicator[id].member == NULL) {
        u->communicator[id].size = (uint32_t)size;
        u->communicator[id].member = must_resize(NULL, size, sizeof *c.member);
        memcpy(u->communicator[id].member, from->data + from->at, size * sizeof *c.member);
        if (name[0])
            u->communicator[id].name = must_copy(name);
    }
    from->at += size * sizeof *c.member;
    return id;
}

static size_t slot_of_object(const struct unified *u, const struct object *o)
{
    uint64_t h = o->kind;
    size_t at;

    h = (h * 0x100000001b3u ^ o->communicator) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ o->number) * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < o->n; i++)
        h = (h ^ ((const unsigned char *)o->bytes)[i]) * 0x100000001b3u;
    at = (size_t)(h ^ h >> 32) & (u->n_object_slots - 1);
    while (u->object_slot[at] && !object_is_same(&u->object[u->object_slot[at] - 1], o))
        at = (at + 1) & (u->n_object_slots - 1);
    return at;
}

static void grow_object_slots(struct unified *u)
{
    u->n_object_slots = u->n_object_slots ? 2 * u->n_object_slots : 256;
    u->object_slot = must_resize(u->object_slot, u->n_object_slots, sizeof *u->object_slot);
    memset(u->object_slot, 0, u->n_object_slots * sizeof *u->object_slot);
    for (uint32_t i = 0; i < u->n_objects; i++)
        u->object_slot[slot_of_object(u, &u->object[i])] = i + 1;
}

/* The number in the archive of an object, which is defined anew if it is not known. */
static uint32_t find_object(struct unified *u, struct object o)
{
    size_t at;

    if (u->n_object_slots < 2 * ((size_t)u->n_objects + 1))
        grow_object_slots(u);
    at = slot_of_object(u, &o);
    if (u->object_slot[at])
        return u->object[u->object_slot[at] - 1].place;
    o.bytes = o.n > 0 ? memcpy(must_resize(NULL, o.n, 1), o.bytes, o.n) : NULL;
    o.place =
        o.kind == OBJECT_GROUP ? UNIFIED_FIRST_GROUP + u->n_groups++ : u->n_of_kind[o.kind]++;
    u->object = must_resize(u->object, u->n_objects + 1, sizeof *u->object);
    u->object[u->n_objects++] = o;
    u->object_slot[at] = u->n_objects;
    return o.place;
}

static uint32_t add_object(struct unified *u, struct blob *from, const struct unified_map *map)
{
    struct object o;

    o.kind = (enum object_kind)blob_number(from);
    o.communicator = (uint32_t)blob_number(from);
    o.number = (uint32_t)blob_number(from);
    o.file = (uint32_t)blob_number(from);
    o.n = (uint32_t)blob_number(from);
    if (o.n > from->n - from->at || o.kind >= N_OBJECT_KINDS) {
        from->is_short = true;
        return OBJECT_NONE;
    }
    o.bytes = from->data + from->at;
    from->at += o.n;
    o.communicator = o.communicator < map->n_communicators ? map->communicator[o.communicator]
                                                           : COMMUNICATOR_NONE;
    o.file = o.file < map->n_objects ? map->object[o.file] : OBJECT_NONE;
    from->is_short = from->is_short || (o.kind == OBJECT_HANDLE && o.file == OBJECT_NONE);
    return find_object(u, o);
}

static void add_locations(struct unified *u, struct unified_rank *rank, struct blob *from)
{
    rank->n_locations = (uint32_t)blob_number(from);
    if (rank->n_locations > from->n) {
        from->is_short = true;
        rank->n_locations = 0;
    }
    rank->location = must_resize(NULL, rank->n_locations, sizeof *rank->location);
    for (uint32_t i = 0; i < rank->n_locations; i++) {
        struct location *l = &rank->location[i];

        l->thread = (uint32_t)blob_number(from);
        l->n_events = blob_number(from);
        l->first_ns = blob_number(from);
        l->last_ns = blob_number(from);
        l->processor_ns = blob_number(from);
        l->cost_ns = blob_number(from);
        l->once_ns = blob_number(from);
        l->n_polls = blob_number(from);
        if (l->n_events && (u->first_ns == 0 || l->first_ns < u->first_ns))
            u->first_ns = l->first_ns;
        if (l->n_events && l->last_ns > u->last_ns)
            u->last_ns = l->last_ns;
    }
}

static void add_rank(struct unified *u, struct blob *from)
{
    struct unified_rank *rank;
    int64_t realtime_ns;

    u->rank = must_resize(u->rank, u->n_ranks + 1, sizeof *u->rank);
    rank = &u->rank[u->n_ranks++];
    *rank = (struct unified_rank){0};
    rank->rank = (uint32_t)blob_number(from);
    rank->host = must_copy(blob_string(from));
    realtime_ns = (int64_t)blob_number(from);
    if (u->n_ranks == 1)
        u->realtime_ns = realtime_ns;
    add_locations(u, rank, from);
}

static void add_left_out(struct unified_rank *rank, struct blob *from,
                         const struct unified_map *map)
{
    uint64_t n = blob_number(from);

    for (uint64_t i = 0; i < n && !from->is_short; i++) {
        uint64_t region = blob_number(from);
        struct left_out *one;

        rank->left_out = must_resize(rank->left_out, i + 1, sizeof *rank->left_out);
        one = &rank->left_out[i];
        from->is_short |= region >= map->n_regions;
        one->region = from->is_short ? 0 : map->region[region];
        one->from_ns = blob_number(from);
        one->n_calls = blob_number(from);
        rank->n_left_out = (uint32_t)i + 1;
    }
}

bool unify_add(struct unified *u, struct blob *from, struct unified_map *map)
{
    struct unified_map own = {0};
    uint64_t n;

    add_rank(u, from);
    n = blob_number(from);
    for (uint64_t i = 0; i < n && !from->is_short; i++) {
        own.region = must_resize(own.region, i + 1, sizeof *own.region);
        own.region[own.n_regions++] = add_region(u, from);
    }
    add_left_out(&u->rank[u->n_ranks - 1], from, &own);
    n = blob_number(from);
    for (uint64_t i = 0; i < n && !from->is_short; i++) {
        own.communicator = must_resize(own.communicator, i + 1, sizeof *own.communicator);
        own.communicator[i] = add_communicator(u, from, (uint32_t)i, own.communicator);
        own.n_communicators++;
    }
    n = blob_number(from);
    for (uint64_t i = 0; i < n && !from->is_short; i++) {
        own.object = must_resize(own.object, i + 1, sizeof *own.object);
        own.object[i] = add_object(u, from, &own);
        own.n_objects++;
    }
    if (map)
        *map = own;
    else
        unified_map_release(&own);
    return !from->is_short;
}

void unified_map_release(struct unified_map *map)
{
    free(map->region);
    free(map->communicator);
    free(map->object);
    *map = (struct unified_map){0};
}

void unified_release(struct unified *u)
{
    for (uint32_t i = 0; i < u->n_ranks; i++) {
        free(u->rank[i].host);
        free(u->rank[i].location);
        free(u->rank[i].left_out);
    }
    for (uint32_t i = 0; i < u->n_regions; i++) {
        free(u->region[i].name);
        free(u->region[i].file);
    }
    for (uint32_t i = 0; i < u->n_communicators; i++) {
        free(u->communicator[i].member);
        free(u->communicator[i].name);
    }
    for (uint32_t i = 0; i < u->n_objects; i++)
        free(u->object[i].bytes);
    free(u->object);
    free(u->rank);
    free(u->region);
    free(u->communicator);
    free(u->slot);
    free(u->object_slot);
    free(u->communicator_slot);
    *u = (struct unified){0};
}
