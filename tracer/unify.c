/* Everything is packed in the order in which it is needed again: a communicator's parent has a
 * lower local number, so its number in the archive is known when the child comes. */
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
        blob_put_number(to, from->location[i].cost_ns);
    }
    blob_put_number(to, from->n_regions);
    for (uint32_t i = 0; i < from->n_regions; i++) {
        blob_put_string(to, from->region[i].name);
        blob_put_number(to, from->region[i].role);
        blob_put_number(to, from->region[i].paradigm);
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
    OTF2_RegionRole role = (OTF2_RegionRole)blob_number(from);
    OTF2_Paradigm paradigm = (OTF2_Paradigm)blob_number(from);
    size_t at;

    if (u->n_slots < 2 * ((size_t)u->n_regions + 1))
        grow_slots(u);
    at = slot_of(u, name);
    if (u->slot[at] == 0) {
        if ((u->n_regions & (u->n_regions - 1)) == 0) /* full at each power of two */
            u->region = must_resize(u->region, 2 * (size_t)u->n_regions + 1, sizeof *u->region);
        u->region[u->n_regions] = (struct region){must_copy(name), role, paradigm};
        u->slot[at] = ++u->n_regions;
    }
    return u->slot[at] - 1;
}

/* The number of the communicator with this pair, defined anew if it is not known. Each rank
 * has an MPI_COMM_SELF, which in an archive are one. */
static uint32_t find_communicator(struct unified *u, const struct communicator *c, bool is_self)
{
    if (is_self && u->n_communicators > COMMUNICATOR_SELF)
        return COMMUNICATOR_SELF;
    for (uint32_t i = u->n_communicators; i-- > 0 && !is_self;)
        if (u->communicator[i].first_rank == c->first_rank &&
            u->communicator[i].number == c->number)
            return i;
    u->communicator =
        must_resize(u->communicator, u->n_communicators + 1, sizeof *u->communicator);
    u->communicator[u->n_communicators] = *c;
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
    id = find_communicator(u, &c, local == COMMUNICATOR_SELF);
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
        l->cost_ns = blob_number(from);
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
    if (map) {
        *map = own;
    } else {
        free(own.region);
        free(own.communicator);
    }
    return !from->is_short;
}

void unified_release(struct unified *u)
{
    for (uint32_t i = 0; i < u->n_ranks; i++) {
        free(u->rank[i].host);
        free(u->rank[i].location);
        free(u->rank[i].left_out);
    }
    for (uint32_t i = 0; i < u->n_regions; i++)
        free(u->region[i].name);
    for (uint32_t i = 0; i < u->n_communicators; i++) {
        free(u->communicator[i].member);
        free(u->communicator[i].name);
    }
    free(u->rank);
    free(u->region);
    free(u->communicator);
    free(u->slot);
    *u = (struct unified){0};
}
