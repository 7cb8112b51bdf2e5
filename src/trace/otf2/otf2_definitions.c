/*
 * How a rank is found: the COMM_LOCATIONS group of the MPI paradigm lists locations, and the
 * place of a location in it is its rank. Groups of communicators hold places in that list. A
 * location belongs to a location group (a process); one that another process created (a GPU
 * context) counts as that process.
 *
 * Ticks of a clock are placed between the points where its offset was measured: the interval
 * is searched from the last one used, in either direction.
 */
#include "trace/otf2/otf2_definitions.h"

#include "base/err.h"
#include "base/mem.h"
#include "trace/monotone.h"
#include "trace/otf2/otf2_raw.h"
#include "trace/recorder_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------- time */

#define NS_PER_S 1000000000u

/* Of so many it is still known that they are too many. */
static uint64_t most_ticks(uint64_t frequency)
{
    __uint128_t most = (__uint128_t)(TIME_LATEST_NS + 2u * NS_PER_S) * frequency / NS_PER_S;

    return most < INT64_MAX ? (uint64_t)most : INT64_MAX;
}

void ticks_init(struct ticks *ticks, uint64_t ticks_per_s, uint64_t origin)
{
    uint64_t frequency = ticks_per_s ? ticks_per_s : NS_PER_S;
    uint64_t rest = NS_PER_S % frequency;

    *ticks = (struct ticks){
        .origin = origin,
        .whole = NS_PER_S / frequency,
        .most = most_ticks(frequency),
        .fraction = (uint64_t)((((__uint128_t)rest << 64) + frequency - 1) / frequency),
    };
}

void ticks_release(struct ticks *ticks)
{
    free(ticks->offset);
    *ticks = (struct ticks){0};
}

void ticks_clear_offsets(struct ticks *ticks)
{
    ticks->n_offsets = 0;
    ticks->current = 0;
    ticks->length = 0;
}

bool ticks_add_offset(struct ticks *ticks, uint64_t at, int64_t offset)
{
    if (ticks->n_offsets > 0 && at <= ticks->offset[ticks->n_offsets - 1].at)
        return false;
    *mem_push(&ticks->offset, &ticks->n_offsets, &ticks->cap) =
        (struct tick_offset){.at = at, .offset = offset};
    ticks->length = 0;
    return true;
}

void ticks_seek(struct ticks *ticks, uint64_t local)
{
    const struct tick_offset *offset = ticks->offset;
    size_t n = ticks->n_offsets, at = ticks->current;

    while (at + 2 < n && local >= offset[at + 1].at)
        at++;
    while (at > 0 && local < offset[at].at)
        at--;
    ticks->current = at;
    ticks->begin = at > 0 ? offset[at].at : 0;
    ticks->length = (at + 2 < n ? offset[at + 1].at : UINT64_MAX) - ticks->begin;
    ticks->slope = n > 1 ? (double)((__int128_t)offset[at + 1].offset - offset[at].offset) /
                               (double)(offset[at + 1].at - offset[at].at)
                         : 0;
}

/*
 * Converts for as long as times are on the line in hand and not before the origin; returns how
 * many. Everything is in local variables, which no store can change.
 */
static size_t follow_line(const struct ticks *ticks, struct event *event, size_t n)
{
    const struct tick_offset *from = &ticks->offset[ticks->current];
    const uint64_t most = ticks->most, origin = ticks->origin, whole = ticks->whole,
                   fraction = ticks->fraction;
    const uint64_t begin = ticks->begin, length = ticks->length, at = from->at;
    const uint64_t offset = (uint64_t)from->offset;
    const double slope = ticks->slope;
    size_t i;

    for (i = 0; i < n; i++) {
        uint64_t local = event[i].time_ns;
        int64_t further = llrint(slope * (double)(int64_t)(local - at));
        uint64_t since = local + offset + (uint64_t)further - origin;

        if (local - begin >= length || since >= most)
            break;
        event[i].time_ns = since * whole + (uint64_t)(((__uint128_t)since * fraction) >> 64);
    }
    return i;
}

void ticks_convert(struct ticks *ticks, struct event *event, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ticks->n_offsets > 0)
            i += follow_line(ticks, event + i, n - i);
        if (i < n)
            event[i].time_ns = ticks_to_ns(ticks, event[i].time_ns);
    }
}

/* ------------------------------------------------------------------------------ definitions */

#define DEEPEST_SYSTEM_TREE 64
#define LONGEST_CREATOR_CHAIN 64
#define BATCH 4096u /* regions between two reports of progress */

static enum region_kind kind_of(OTF2_Paradigm paradigm, enum region_kind by_name)
{
    switch (paradigm) {
    case OTF2_PARADIGM_MPI:
        return REGION_MPI;
    case OTF2_PARADIGM_OPENMP:
    case OTF2_PARADIGM_PTHREAD:
        return REGION_OPENMP;
    case OTF2_PARADIGM_MEASUREMENT_SYSTEM:
        return by_name == REGION_TRACER ? REGION_TRACER : REGION_RUNTIME;
    default:
        return by_name;
    }
}

static uint32_t attribute_of(const struct otf2_raw *raw, const char *name)
{
    for (size_t i = 0; i < raw->attribute.n; i++)
        if (raw->attribute.at[i].type == OTF2_TYPE_UINT64 &&
            strcmp(otf2_raw_string(raw, raw->attribute.at[i].name), name) == 0)
            return raw->attribute.at[i].id;
    return NO_ATTRIBUTE;
}

/* Of a team of threads. */
static bool is_barrier(const struct raw_region *region)
{
    return region->paradigm == OTF2_PARADIGM_OPENMP &&
           (region->role == OTF2_REGION_ROLE_BARRIER ||
            region->role == OTF2_REGION_ROLE_IMPLICIT_BARRIER);
}

/* Our tracer writes a region for each place that a function of MPI is called from: all have its
 * name, which other tools know it by, and the canonical one says the place. */
static const char *name_of(const struct otf2_raw *raw, const struct raw_region *region)
{
    const char *name = otf2_raw_string(raw, region->name);
    const char *canonical = otf2_raw_string(raw, region->canonical);
    size_t n = strlen(name);

    if (n == 0)
        return canonical;
    return strncmp(canonical, name, n) == 0 && region_name_plain(canonical) == n &&
                   canonical[n] == '@' && getenv("SNAG_NO_CALL_SITES") == NULL
               ? canonical
               : name;
}

static void resolve_regions(const struct otf2_raw *raw, struct source *source,
                            struct otf2_tables *tables)
{
    struct definitions *defs = &source->defs;

    for (size_t i = 0; i < raw->region.n; i++) {
        const struct raw_region *from = &raw->region.at[i];
        const char *name = name_of(raw, from);
        char unnamed[40];
        struct region *region;
        uint32_t at;

        if (*name == '\0') {
            snprintf(unnamed, sizeof unnamed, "(region %u without a name)", from->id);
            name = unnamed;
        }
        at = definitions_region(defs, name);
        region = &defs->region[at];
        region->kind = kind_of(from->paradigm, region->kind);
        region->is_barrier |= is_barrier(from);
        region->is_sampled |= from->paradigm == OTF2_PARADIGM_SAMPLING;
        if (from->line != OTF2_UNDEFINED_UINT32)
            definitions_source(defs, at, otf2_raw_string(raw, from->file), from->line);
        idtable_set(&tables->id.region, from->id, at);
        if (i % BATCH == 0)
            source_progress(source, raw->string.n + i + 1);
    }
    tables->earlier = attribute_of(raw, NAME_EARLIER);
    tables->later = attribute_of(raw, NAME_LATER);
    tables->inlined = attribute_of(raw, NAME_INLINED);
    if (tables->earlier == NO_ATTRIBUTE || tables->later == NO_ATTRIBUTE)
        tables->earlier = tables->later = NO_ATTRIBUTE;
    tables->flush_region = definitions_region(defs, REGION_BUFFER_FLUSH);
    for (size_t i = 0; i < raw->location.n && tables->put_region == 0; i++)
        if (raw->location.at[i].is_gpu) { /* the names that CUPTI has for them */
            tables->put_region = definitions_region(defs, "Memcpy DtoH");
            tables->get_region = definitions_region(defs, "Memcpy HtoD");
            defs->region[tables->put_region].kind = REGION_RUNTIME;
            defs->region[tables->get_region].kind = REGION_RUNTIME;
        }
    tables->undefined_region = definitions_region(defs, "(undefined region)");
}

/* The process that counts for a location: the one that created it, and so on. */
static uint64_t process_of(const struct otf2_raw *raw, uint32_t process)
{
    for (int depth = 0; depth < LONGEST_CREATOR_CHAIN; depth++) {
        uint32_t at = idmap_find(&raw->process_id, key_pair(0, process));

        if (at == IDMAP_NONE || raw->creator.at[at] == OTF2_UNDEFINED_LOCATION_GROUP ||
            raw->creator.at[at] == process)
            break;
        process = raw->creator.at[at];
    }
    return process;
}

/* The node that a process ran on, up the tree from where it says that it did; "" if none. */
static const char *node_of(const struct otf2_raw *raw, uint64_t process)
{
    uint32_t at = idmap_find(&raw->process_id, key_pair(0, process));
    uint32_t id = at == IDMAP_NONE ? OTF2_UNDEFINED_SYSTEM_TREE_NODE : raw->parent.at[at];

    for (int depth = 0; depth < DEEPEST_SYSTEM_TREE; depth++) {
        const struct raw_node *node;

        at = idmap_find(&raw->node_id, key_pair(0, id));
        if (at == IDMAP_NONE)
            break;
        node = &raw->node.at[at];
        if (strcasecmp(otf2_raw_string(raw, node->class), "node") == 0)
            return otf2_raw_string(raw, node->name);
        id = node->parent;
    }
    return "";
}

static void resolve_locations(const struct otf2_raw *raw, struct definitions *defs)
{
    for (size_t i = 0; i < raw->location.n; i++) {
        const struct raw_location *from = &raw->location.at[i];
        struct location *location = definitions_location(
            defs, from->id, otf2_raw_string(raw, from->name), process_of(raw, from->process));

        location->n_events_said = from->n_events;
        location->is_gpu = from->is_gpu;
        if (from->is_gpu) /* Score-P says "CUDA[device:stream]", "HIP[device:stream]" */
            sscanf(location->name, "%*[A-Za-z][%" SCNu32 ":%" SCNu32 "]", &location->gpu_device,
                   &location->gpu_stream);
        location->node = arena_string(&defs->arena, node_of(raw, location->group));
    }
}

/*
 * Indexes the groups: of two with one id, communicators mean the one that is not a list of
 * locations; of several lists of locations of one paradigm, the longest tells the ranks.
 */
static void index_groups(struct otf2_raw *raw)
{
    for (uint32_t i = 0; i < raw->group.n; i++) {
        const struct raw_group *group = &raw->group.at[i];
        uint32_t at = idmap_add(&raw->group_id, key_pair(0, group->id));
        const struct raw_group **all = &raw->all_of[group->paradigm & 0xff];

        if (at == raw->comm_group.n)
            *RAW_PUSH(raw->comm_group) = i;
        else if (group->type != OTF2_GROUP_TYPE_COMM_LOCATIONS)
            raw->comm_group.at[at] = i;
        if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
            (*all == NULL || group->n_members > (*all)->n_members))
            *all = group;
    }
}

static struct raw_group *find_group(const struct otf2_raw *raw, uint32_t id)
{
    uint32_t at = idmap_find(&raw->group_id, key_pair(0, id));

    return at == IDMAP_NONE ? NULL : &raw->group.at[raw->comm_group.at[at]];
}

static void finish_locations(const struct otf2_raw *raw, struct definitions *defs)
{
    const struct raw_group *mpi = raw->all_of[OTF2_PARADIGM_MPI];
    struct process_rank *known = mem_alloc(mpi ? mpi->n_members : 0, sizeof *known);
    struct idmap group_of = {0};
    size_t n_known = 0;

    for (uint32_t i = 0; i < defs->n_locations; i++)
        idmap_add(&group_of, key_pair(0, defs->location[i].id));
    for (uint32_t i = 0; mpi && i < mpi->n_members; i++) {
        uint32_t at = idmap_find(&group_of, key_pair(0, mpi->member[i]));

        if (at != IDMAP_NONE)
            known[n_known++] = (struct process_rank){defs->location[at].group, i};
    }
    definitions_finish(defs, known, n_known);
    idmap_release(&group_of);
    free(known);
}

/* What the tracer says of each thread. */
static void resolve_costs(const struct otf2_raw *raw, struct source *source)
{
    struct definitions *defs = &source->defs;
    struct idmap known = {0};

    for (uint32_t i = 0; i < defs->n_locations && raw->location_property.n > 0; i++)
        idmap_add(&known, key_pair(0, defs->location[i].id));
    for (size_t i = 0; i < raw->location_property.n; i++) {
        const struct raw_property *from = &raw->location_property.at[i];
        const char *name = otf2_raw_string(raw, from->name);
        uint32_t at = idmap_find(&known, key_pair(0, from->of));

        if (at == IDMAP_NONE)
            continue;
        if (strcmp(name, PROPERTY_TIME) == 0)
            defs->location[at].recorded_ns = from->value;
        else if (strcmp(name, PROPERTY_PROCESSOR_TIME) == 0)
            defs->location[at].processor_ns = from->value;
        else if (strcmp(name, PROPERTY_COST) == 0)
            defs->location[at].cost_ns = from->value;
        else if (strcmp(name, PROPERTY_COST_ONCE) == 0)
            defs->location[at].once_ns = from->value;
        else if (strcmp(name, PROPERTY_POLLS) == 0)
            source->quality.n[QUALITY_polls] += from->value;
        else if (strcmp(name, PROPERTY_LOST) == 0)
            source->quality.n[QUALITY_lost_call] += from->value;
    }
    idmap_release(&known);
}

/* What processes and the machine say of themselves; build ids are for debuggers. */
/* Ranks by process, as properties know them. */
struct process_ranks {
    struct idmap process;
    uint32_t *rank; /* [process.n] */
};

static struct process_ranks process_ranks_of(const struct definitions *defs)
{
    struct process_ranks p = {.rank = mem_alloc(defs->n_locations, sizeof *p.rank)};

    for (uint32_t i = 0; i < defs->n_locations; i++)
        p.rank[idmap_add(&p.process, key_pair(0, defs->location[i].group))] =
            defs->location[i].rank;
    return p;
}

/* Or `otherwise`, of a process without locations. */
static uint32_t process_rank(const struct process_ranks *p, uint64_t process,
                             uint32_t otherwise)
{
    uint32_t at = idmap_find(&p->process, key_pair(0, process));

    return at == IDMAP_NONE ? otherwise : p->rank[at];
}

static void process_ranks_release(struct process_ranks *p)
{
    idmap_release(&p->process);
    free(p->rank);
}

static void resolve_metadata(const struct otf2_raw *raw, OTF2_Reader *reader,
                             struct definitions *defs)
{
    struct process_ranks ranks = process_ranks_of(defs);
    char *creator = NULL;

    for (size_t i = 0; i < raw->text.n; i++) {
        const struct raw_text *from = &raw->text.at[i];
        const char *name = otf2_raw_string(raw, from->name);

        if (*name && strncmp(name, PROPERTY_BUILD_ID, strlen(PROPERTY_BUILD_ID)) != 0)
            definitions_metadata(
                defs, &(struct metadata){.rank = process_rank(&ranks, from->process, 0),
                                         .key = name,
                                         .value = otf2_raw_string(raw, from->value)});
    }
    if (OTF2_Reader_GetCreator(reader, &creator) == OTF2_SUCCESS && creator && *creator)
        definitions_metadata(defs, &(struct metadata){.key = "Recorded By", .value = creator});
    free(creator);
    process_ranks_release(&ranks);
}

/* The entry for a region that was left out in a process: `at` has those that there are. */
static struct left_out *left_out_in(struct definitions *defs, struct idmap *at,
                                    uint64_t process, const char *name)
{
    struct left_out one = {.region = definitions_region(defs, name)};
    uint32_t i = idmap_add(at, key_pair(process, one.region));

    if (i == defs->n_left_out)
        definitions_left_out(defs, &one);
    return &defs->left_out[i];
}

/* Entry i is of the process that is key i's first number. */
static void name_ranks(struct definitions *defs, const struct idmap *at)
{
    struct process_ranks ranks = process_ranks_of(defs);

    for (size_t i = 0; i < defs->n_left_out; i++)
        defs->left_out[i].rank = process_rank(&ranks, at->key[i].high, NO_RANK);
    process_ranks_release(&ranks);
}

static void read_left_out(const struct otf2_raw *raw, struct definitions *defs)
{
    const size_t n_from = strlen(PROPERTY_LEFT_OUT_FROM);
    const size_t n_calls = strlen(PROPERTY_LEFT_OUT_CALLS);
    struct ticks ticks = {0};
    struct idmap at = {0};

    ticks_init(&ticks, defs->ticks_per_s, defs->origin_ticks);
    for (size_t i = 0; i < raw->process_property.n; i++) {
        const struct raw_property *from = &raw->process_property.at[i];
        const char *name = otf2_raw_string(raw, from->name);
        struct left_out *one;

        if (strncmp(name, PROPERTY_LEFT_OUT_FROM, n_from) == 0) {
            one = left_out_in(defs, &at, from->of, name + n_from);
            one->from_ns = ticks_to_ns(&ticks, from->value);
        } else if (strncmp(name, PROPERTY_LEFT_OUT_CALLS, n_calls) == 0) {
            one = left_out_in(defs, &at, from->of, name + n_calls);
            one->n_calls = from->value;
        }
    }
    name_ranks(defs, &at);
    idmap_release(&at);
}

/* Regions that were left out on some rank are left out as a whole. */
static void resolve_left_out(const struct otf2_raw *raw, struct source *source,
                             struct otf2_tables *tables)
{
    struct definitions *defs = &source->defs;
    bool *is_left_out;

    read_left_out(raw, defs);
    is_left_out = mem_alloc(defs->names.n, sizeof *is_left_out);
    for (size_t i = 0; i < defs->n_left_out; i++) {
        is_left_out[defs->left_out[i].region] = true;
        source->quality.n[QUALITY_left_out] += defs->left_out[i].n_calls;
    }
    for (size_t i = 0; i < raw->region.n && defs->n_left_out > 0; i++) {
        uint32_t id = raw->region.at[i].id, region = idtable_get(&tables->id.region, id);

        if (region < defs->names.n && is_left_out[region])
            idtable_set(&tables->id.region, id, OTF2_LEFT_OUT);
    }
    free(is_left_out);
}

/* What finding the members of communicators needs: ranks by location id. */
struct rank_numbers {
    struct idmap location;
    const struct definitions *defs;
};

static uint32_t rank_of(const struct rank_numbers *ranks, uint64_t location)
{
    uint32_t at = idmap_find(&ranks->location, key_pair(0, location));

    return at == IDMAP_NONE ? NO_RANK : ranks->defs->location[at].rank;
}

/* Any number of communicators may have the same group. */
static uint32_t *ranks_of_group(const struct otf2_raw *raw, const struct rank_numbers *ranks,
                                struct raw_group *group, struct arena *arena)
{
    const struct raw_group *all = raw->all_of[group->paradigm & 0xff];
    uint32_t *rank = group->rank;

    if (rank)
        return rank;
    rank = group->rank = arena_array(arena, uint32_t, group->n_members);
    for (uint32_t i = 0; i < group->n_members; i++) {
        uint64_t member = group->member[i];

        if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
            rank[i] = rank_of(ranks, member);
        else if (all)
            rank[i] = member < all->n_members ? rank_of(ranks, all->member[member]) : NO_RANK;
        else
            rank[i] = member < ranks->defs->n_ranks ? (uint32_t)member : NO_RANK;
    }
    return rank;
}

static void resolve_comm(const struct otf2_raw *raw, const struct rank_numbers *ranks,
                         const struct raw_comm *from, struct definitions *defs,
                         struct otf2_tables *tables)
{
    struct raw_group *group = find_group(raw, from->group);
    struct raw_group *remote = from->is_inter ? find_group(raw, from->remote) : NULL;
    struct comm *comm;
    uint32_t at;

    if (group == NULL || (from->is_inter && remote == NULL))
        return;
    at = definitions_comm(defs, otf2_raw_string(raw, from->name), 0);
    comm = &defs->comm[at];
    comm->is_self = group->type == OTF2_GROUP_TYPE_COMM_SELF;
    comm->n_members = group->n_members;
    comm->member = ranks_of_group(raw, ranks, group, &defs->arena);
    if (remote) {
        if (group->sorted == NULL)
            group->sorted = definitions_sorted(defs, comm->member, comm->n_members);
        comm->sorted = group->sorted;
        comm->n_remote = remote->n_members;
        comm->remote = ranks_of_group(raw, ranks, remote, &defs->arena);
    }
    idtable_set(&tables->id.comm, from->id, at);
}

static void resolve_comms(struct otf2_raw *raw, struct definitions *defs,
                          struct otf2_tables *tables)
{
    struct rank_numbers ranks = {.defs = defs};
    uint32_t n_before;

    for (uint32_t i = 0; i < defs->n_locations; i++)
        idmap_add(&ranks.location, key_pair(0, defs->location[i].id));
    for (size_t i = 0; i < raw->comm.n; i++) {
        n_before = defs->n_comms;
        resolve_comm(raw, &ranks, &raw->comm.at[i], defs, tables);
        raw->n_bad += defs->n_comms == n_before;
    }
    idmap_release(&ranks.location);
}

static enum counter_mode mode_of(OTF2_MetricMode mode)
{
    switch (mode & OTF2_METRIC_VALUE_MASK) {
    case OTF2_METRIC_VALUE_ACCUMULATED:
        return COUNTER_ACCUMULATED;
    case OTF2_METRIC_VALUE_ABSOLUTE:
        return COUNTER_ABSOLUTE;
    case OTF2_METRIC_VALUE_RELATIVE:
        return COUNTER_RELATIVE;
    default:
        return COUNTER_UNKNOWN;
    }
}

static enum counter_span span_of(OTF2_MetricMode mode)
{
    switch (mode & OTF2_METRIC_TIMING_MASK) {
    case OTF2_METRIC_TIMING_START:
        return COUNTER_SINCE_START;
    case OTF2_METRIC_TIMING_LAST:
        return COUNTER_SINCE_LAST;
    case OTF2_METRIC_TIMING_NEXT:
        return COUNTER_UNTIL_NEXT;
    default:
        return COUNTER_AT_POINT;
    }
}

static struct otf2_member resolve_member(struct otf2_raw *raw, uint32_t id,
                                         struct definitions *defs)
{
    uint32_t at = idmap_find(&raw->member_id, key_pair(0, id));
    const struct raw_member *from = at == IDMAP_NONE ? NULL : &raw->member.at[at];
    const char *name = from ? otf2_raw_string(raw, from->name) : "";
    struct otf2_member member = {.scale = 1};
    char unnamed[40];

    raw->n_bad += from == NULL;
    if (*name == '\0') {
        snprintf(unnamed, sizeof unnamed, "(metric %u without a name)", id);
        name = unnamed;
    }
    member.counter =
        definitions_counter(defs, name,
                            from ? &(struct counter){mode_of(from->mode), span_of(from->mode),
                                                     otf2_raw_string(raw, from->unit)}
                                 : &(struct counter){.unit = ""});
    member.is_scaled = from && from->exponent != 0;
    if (member.is_scaled)
        member.scale = pow(from->base == OTF2_BASE_BINARY ? 2 : 10, (double)from->exponent);
    return member;
}

/* Classes first: an instance is another id of its class. */
static void resolve_metrics(struct otf2_raw *raw, struct definitions *defs,
                            struct otf2_tables *tables)
{
    for (size_t i = 0; i < raw->metric.n; i++) {
        const struct raw_metric *from = &raw->metric.at[i];
        struct otf2_metric metric = {.n = from->n_members};

        if (from->class != OTF2_UNDEFINED_METRIC)
            continue;
        metric.member = arena_array(&defs->arena, struct otf2_member, metric.n);
        for (uint32_t k = 0; k < metric.n; k++)
            metric.member[k] = resolve_member(raw, from->member[k], defs);
        mem_grow(&tables->metric, &tables->metric_cap, tables->n_metrics + 1);
        idtable_set(&tables->id.metric, from->id, (uint32_t)tables->n_metrics);
        tables->metric[tables->n_metrics++] = metric;
    }
    for (size_t i = 0; i < raw->metric.n; i++) {
        const struct raw_metric *from = &raw->metric.at[i];

        if (from->class != OTF2_UNDEFINED_METRIC)
            idtable_set(&tables->id.metric, from->id,
                        idtable_get(&tables->id.metric, from->class));
    }
}

/* Which attributes and parameters have which name, but for those of our tracer. Returns whether
 * some may be texts. */
static bool name_arguments(const struct otf2_raw *raw, struct definitions *defs,
                           struct otf2_tables *tables)
{
    bool has_texts = false;

    for (size_t i = 0; i < raw->attribute.n; i++) {
        const struct raw_attribute *from = &raw->attribute.at[i];
        const char *name = otf2_raw_string(raw, from->name);

        if (*name == '\0' || strncmp(name, ATTRIBUTES_OURS, strlen(ATTRIBUTES_OURS)) == 0 ||
            from->type == OTF2_TYPE_NONE || from->type > OTF2_TYPE_STRING)
            continue;
        idtable_set(&tables->id.attribute, from->id, names_add(&defs->arguments, name));
        tables->has_arguments = true;
        has_texts |= from->type == OTF2_TYPE_STRING;
    }
    for (size_t i = 0; i < raw->parameter.n; i++) {
        const char *name = otf2_raw_string(raw, raw->parameter.at[i].name);

        if (*name == '\0')
            continue;
        idtable_set(&tables->id.parameter, raw->parameter.at[i].id,
                    names_add(&defs->arguments, name));
        has_texts |= raw->parameter.at[i].type == OTF2_TYPE_STRING;
    }
    return has_texts;
}

/* Their texts are strings of the definitions: these must stay. */
static void resolve_arguments(const struct otf2_raw *raw, struct source *source,
                              struct otf2_tables *tables)
{
    struct definitions *defs = &source->defs;

    if (!source->opts.wants_arguments || !name_arguments(raw, defs, tables))
        return;
    tables->text = arena_array(&defs->arena, const char *, raw->string.n);
    for (size_t i = 0; i < raw->string.n; i++) {
        tables->text[i] = arena_string(&defs->arena, raw->string.at[i]);
        idtable_set(&tables->id.string, (uint32_t)raw->string_id.key[i].low, (uint32_t)i);
    }
}

int otf2_definitions_read(OTF2_Reader *reader, const char *dir, struct source *source,
                          struct otf2_tables *tables)
{
    struct definitions *defs = &source->defs;
    struct otf2_raw raw = {0};
    OTF2_ErrorCode status = otf2_raw_read(reader, dir, source, &raw);
    int rc = 0;

    if (raw.region.n == 0 && status != OTF2_SUCCESS) {
        rc = err_set(ERR_FORMAT, "its definitions cannot be read: %s",
                     OTF2_Error_GetDescription(status));
        goto out;
    }
    if (status != OTF2_SUCCESS || raw.location.n == 0) {
        raw.n_bad++;
        source->quality.n[QUALITY_no_definitions] += otf2_raw_add_locations(&raw, dir);
    }
    raw.n_bad += !raw.has_clock;
    defs->ticks_per_s = raw.has_clock ? raw.ticks_per_s : 0;
    defs->origin_ticks = raw.has_clock ? raw.origin_ticks : 0;
    defs->has_wall_time = raw.has_clock && raw.wall_time_ns != OTF2_UNDEFINED_TIMESTAMP;
    defs->wall_time_ns = defs->has_wall_time ? raw.wall_time_ns : 0;
    resolve_regions(&raw, source, tables);
    resolve_locations(&raw, defs);
    index_groups(&raw);
    finish_locations(&raw, defs);
    resolve_comms(&raw, defs, tables);
    resolve_costs(&raw, source);
    resolve_left_out(&raw, source, tables);
    resolve_metadata(&raw, reader, defs);
    resolve_metrics(&raw, defs, tables);
    resolve_arguments(&raw, source, tables);
    source->quality.n[QUALITY_bad_definition] += raw.n_bad;
out:
    otf2_raw_release(&raw);
    return rc;
}

/* The tables of all kinds of ids, to be handled alike. */
static void each_table(struct otf2_ids *ids, void (*fn)(struct idtable *table))
{
    struct idtable *const table[] = {&ids->region,    &ids->comm,      &ids->metric,
                                     &ids->attribute, &ids->parameter, &ids->string};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        fn(table[i]);
}

void otf2_ids_release(struct otf2_ids *ids)
{
    each_table(ids, idtable_release);
}

void otf2_ids_clear(struct otf2_ids *ids)
{
    each_table(ids, idtable_clear);
}

void otf2_tables_release(struct otf2_tables *tables)
{
    otf2_ids_release(&tables->id);
    free(tables->metric);
}
