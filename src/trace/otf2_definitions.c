/*
 * How a rank is found: the COMM_LOCATIONS group of the MPI paradigm lists locations, and the
 * place of a location in it is its rank. Groups of communicators hold places in that list.
 * A location belongs to a location group (a process); one that another process created (a GPU
 * context) counts as that process.
 */
#include "trace/otf2_definitions.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "trace/event.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST_CREATOR_CHAIN 64
#define BATCH 4096u    /* definitions between two reports of progress */
#define LEAST_BYTES 2u /* of a definition in a file: its kind and its length */

struct raw_region {
    uint32_t id, name, canonical;
    OTF2_Paradigm paradigm;
};

struct raw_group {
    uint32_t id;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint32_t n_members;
    uint64_t *member;
    uint32_t *rank; /* [n_members] of the members, once somebody asked; in the definitions */
    const uint32_t *sorted; /* [n_members] the same */
};

struct raw_comm {
    uint32_t id, name, group, remote;
    bool is_inter;
};

struct raw_location {
    uint64_t id, n_events;
    uint32_t name, process;
    OTF2_LocationType type;
};

struct raw_member {
    uint32_t id, name;
    OTF2_Base base;
    int64_t exponent;
};

struct raw_metric {
    uint32_t id, class; /* class: of an instance; OTF2_UNDEFINED_METRIC: it is a class itself */
    uint32_t n_members;
    uint32_t *member;
};

/* An array of raw definitions of one kind. */
#define RAW_LIST(type)                                                                         \
    struct {                                                                                   \
        type *at;                                                                              \
        size_t n, cap;                                                                         \
    }
#define RAW_PUSH(list)                                                                         \
    ({                                                                                         \
        mem_grow(&(list).at, &(list).cap, (list).n + 1, sizeof *(list).at);                    \
        &(list).at[(list).n++];                                                                \
    })

struct raw {
    struct arena arena;
    struct idmap string_id;
    RAW_LIST(const char *) string;
    RAW_LIST(struct raw_region) region;
    RAW_LIST(struct raw_group) group;
    RAW_LIST(struct raw_comm) comm;
    RAW_LIST(struct raw_location) location;
    struct idmap member_id;
    RAW_LIST(struct raw_member) member;
    RAW_LIST(struct raw_metric) metric;
    struct idmap seen_location; /* ids, as a set */
    struct idmap process_id;
    RAW_LIST(uint32_t) creator; /* of each process */
    struct idmap group_id;
    RAW_LIST(uint32_t) comm_group;       /* for each group id, which group communicators mean */
    const struct raw_group *all_of[256]; /* per paradigm, who is rank r; NULL if nobody says */
    bool has_clock;
    uint64_t ticks_per_s, origin_ticks, wall_time_ns;
    uint64_t n_bad;
};

static OTF2_CallbackCode on_clock(void *arg, uint64_t ticks_per_s, uint64_t origin,
                                  uint64_t length, uint64_t wall_time)
{
    struct raw *raw = arg;

    (void)length; /* may be too short */
    raw->has_clock = ticks_per_s > 0;
    raw->n_bad += ticks_per_s == 0;
    raw->ticks_per_s = ticks_per_s;
    raw->origin_ticks = origin;
    raw->wall_time_ns = wall_time;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *arg, OTF2_StringRef self, const char *text)
{
    struct raw *raw = arg;
    uint32_t at = idmap_add(&raw->string_id, key_pair(0, self));

    if (at == raw->string.n)
        *RAW_PUSH(raw->string) = NULL;
    raw->string.at[at] = arena_string(&raw->arena, text ? text : "");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *arg, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    struct raw *raw = arg;

    (void)description, (void)role, (void)flags, (void)file, (void)begin, (void)end;
    *RAW_PUSH(raw->region) = (struct raw_region){self, name, canonical, paradigm};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *arg, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator)
{
    struct raw *raw = arg;
    uint32_t at = idmap_add(&raw->process_id, key_pair(0, self));

    (void)name, (void)type, (void)parent;
    if (at == raw->creator.n)
        *RAW_PUSH(raw->creator) = creator;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t n_events,
                                     OTF2_LocationGroupRef process)
{
    struct raw *raw = arg;

    if (self == OTF2_UNDEFINED_LOCATION ||
        idmap_find(&raw->seen_location, key_pair(0, self)) != IDMAP_NONE) {
        raw->n_bad++;
        return OTF2_CALLBACK_SUCCESS;
    }
    idmap_add(&raw->seen_location, key_pair(0, self));
    *RAW_PUSH(raw->location) = (struct raw_location){self, n_events, name, process, type};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *arg, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm,
                                  OTF2_GroupFlag flags, uint32_t n_members,
                                  const uint64_t *members)
{
    struct raw *raw = arg;
    struct raw_group group = {self, type, paradigm, n_members, NULL, NULL, NULL};

    (void)name, (void)flags;
    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
        type != OTF2_GROUP_TYPE_COMM_SELF)
        return OTF2_CALLBACK_SUCCESS;
    group.member = arena_array(&raw->arena, uint64_t, n_members);
    if (n_members > 0)
        memcpy(group.member, members, n_members * sizeof *members);
    *RAW_PUSH(raw->group) = group;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct raw *raw = arg;

    (void)parent, (void)flags;
    *RAW_PUSH(raw->comm) = (struct raw_comm){.id = self, .name = name, .group = group};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_inter_comm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                       OTF2_GroupRef group, OTF2_GroupRef remote,
                                       OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct raw *raw = arg;

    (void)common, (void)flags;
    *RAW_PUSH(raw->comm) = (struct raw_comm){self, name, group, remote, true};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_member(void *arg, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType type,
                                   OTF2_MetricMode mode, OTF2_Type value_type, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    struct raw *raw = arg;

    (void)description, (void)type, (void)mode, (void)value_type, (void)unit;
    if (idmap_add(&raw->member_id, key_pair(0, self)) == raw->member.n)
        *RAW_PUSH(raw->member) = (struct raw_member){self, name, base, exponent};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_class(void *arg, OTF2_MetricRef self, uint8_t n_members,
                                         const OTF2_MetricMemberRef *members,
                                         OTF2_MetricOccurrence occurrence,
                                         OTF2_RecorderKind recorder)
{
    struct raw *raw = arg;
    struct raw_metric metric = {.id = self, .class = OTF2_UNDEFINED_METRIC};

    (void)occurrence, (void)recorder;
    metric.n_members = n_members;
    metric.member = arena_array(&raw->arena, uint32_t, n_members);
    if (n_members > 0)
        memcpy(metric.member, members, n_members * sizeof *members);
    *RAW_PUSH(raw->metric) = metric;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_instance(void *arg, OTF2_MetricRef self,
                                            OTF2_MetricRef class, OTF2_LocationRef recorder,
                                            OTF2_MetricScope scope_kind, uint64_t scope)
{
    struct raw *raw = arg;

    (void)recorder, (void)scope_kind, (void)scope;
    *RAW_PUSH(raw->metric) = (struct raw_metric){.id = self, .class = class};
    return OTF2_CALLBACK_SUCCESS;
}

static const char *string_of(const struct raw *raw, uint32_t id)
{
    uint32_t at = idmap_find(&raw->string_id, key_pair(0, id));

    return at == IDMAP_NONE ? "" : raw->string.at[at];
}

static enum region_kind kind_of(OTF2_Paradigm paradigm, enum region_kind by_name)
{
    switch (paradigm) {
    case OTF2_PARADIGM_MPI:
        return REGION_MPI;
    case OTF2_PARADIGM_OPENMP:
    case OTF2_PARADIGM_PTHREAD:
        return REGION_OPENMP;
    case OTF2_PARADIGM_MEASUREMENT_SYSTEM:
        return REGION_RUNTIME;
    default:
        return by_name;
    }
}

static void resolve_regions(const struct raw *raw, struct source *source,
                            struct otf2_tables *tables)
{
    struct definitions *defs = &source->defs;

    for (size_t i = 0; i < raw->region.n; i++) {
        const struct raw_region *from = &raw->region.at[i];
        const char *name = string_of(raw, from->name);
        char unnamed[40];
        struct region *region;
        uint32_t at;

        if (*name == '\0')
            name = string_of(raw, from->canonical);
        if (*name == '\0') {
            snprintf(unnamed, sizeof unnamed, "(region %u without a name)", from->id);
            name = unnamed;
        }
        at = definitions_region(defs, name);
        region = &defs->region[at];
        region->kind = kind_of(from->paradigm, region->kind);
        idtable_set(&tables->region, from->id, at);
        if (i % BATCH == 0)
            source_progress(source, raw->string.n + i + 1);
    }
    tables->undefined_region = definitions_region(defs, "(undefined region)");
}

/* The process that counts for a location: the one that created it, and so on. */
static uint64_t process_of(const struct raw *raw, uint32_t process)
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

static void resolve_locations(const struct raw *raw, struct definitions *defs)
{
    for (size_t i = 0; i < raw->location.n; i++) {
        const struct raw_location *from = &raw->location.at[i];
        struct location *location = definitions_location(
            defs, from->id, string_of(raw, from->name), process_of(raw, from->process));

        location->n_events_said = from->n_events;
        location->is_metric = from->type == OTF2_LOCATION_TYPE_METRIC;
    }
}

/*
 * Indexes the groups: of two with one id, communicators mean the one that is not a list of
 * locations; of several lists of locations of one paradigm, the longest tells the ranks.
 */
static void index_groups(struct raw *raw)
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

static struct raw_group *find_group(const struct raw *raw, uint32_t id)
{
    uint32_t at = idmap_find(&raw->group_id, key_pair(0, id));

    return at == IDMAP_NONE ? NULL : &raw->group.at[raw->comm_group.at[at]];
}

static void finish_locations(const struct raw *raw, struct definitions *defs)
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

/* What finding the members of communicators needs: ranks by location id. */
struct ranks {
    struct idmap location;
    const struct definitions *defs;
};

static uint32_t rank_of(const struct ranks *ranks, uint64_t location)
{
    uint32_t at = idmap_find(&ranks->location, key_pair(0, location));

    return at == IDMAP_NONE ? NO_RANK : ranks->defs->location[at].rank;
}

/* Any number of communicators may have the same group. */
static uint32_t *ranks_of_group(const struct raw *raw, const struct ranks *ranks,
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

static void resolve_comm(const struct raw *raw, const struct ranks *ranks,
                         const struct raw_comm *from, struct definitions *defs,
                         struct otf2_tables *tables)
{
    struct raw_group *group = find_group(raw, from->group);
    struct raw_group *remote = from->is_inter ? find_group(raw, from->remote) : NULL;
    struct comm *comm;
    uint32_t at;

    if (group == NULL || (from->is_inter && remote == NULL))
        return;
    at = definitions_comm(defs, string_of(raw, from->name), 0);
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
    idtable_set(&tables->comm, from->id, at);
}

static void resolve_comms(struct raw *raw, struct definitions *defs, struct otf2_tables *tables)
{
    struct ranks ranks = {.defs = defs};
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

static struct otf2_member resolve_member(struct raw *raw, uint32_t id, struct definitions *defs)
{
    uint32_t at = idmap_find(&raw->member_id, key_pair(0, id));
    const struct raw_member *from = at == IDMAP_NONE ? NULL : &raw->member.at[at];
    const char *name = from ? string_of(raw, from->name) : "";
    struct otf2_member member = {.scale = 1};
    char unnamed[40];

    raw->n_bad += from == NULL;
    if (*name == '\0') {
        snprintf(unnamed, sizeof unnamed, "(metric %u without a name)", id);
        name = unnamed;
    }
    member.counter = names_add(&defs->counters, name);
    member.is_scaled = from && from->exponent != 0;
    if (member.is_scaled)
        member.scale = pow(from->base == OTF2_BASE_BINARY ? 2 : 10, (double)from->exponent);
    return member;
}

/* Classes first: an instance is another id of its class. */
static void resolve_metrics(struct raw *raw, struct definitions *defs,
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
        mem_grow(&tables->metric, &tables->metric_cap, tables->n_metrics + 1, sizeof metric);
        idtable_set(&tables->metric_id, from->id, (uint32_t)tables->n_metrics);
        tables->metric[tables->n_metrics++] = metric;
    }
    for (size_t i = 0; i < raw->metric.n; i++) {
        const struct raw_metric *from = &raw->metric.at[i];

        if (from->class != OTF2_UNDEFINED_METRIC)
            idtable_set(&tables->metric_id, from->id,
                        idtable_get(&tables->metric_id, from->class));
    }
}

/* Locations that only their event file tells of: "<dir>/<id>.evt". */
static uint64_t add_locations_by_file(struct raw *raw, const char *dir)
{
    DIR *files = opendir(dir);
    struct dirent *file;
    uint64_t n = 0;

    while (files && (file = readdir(files)) != NULL) {
        char *end;
        uint64_t id;

        errno = 0;
        id = strtoull(file->d_name, &end, 10);
        if (end == file->d_name || strcmp(end, ".evt") != 0 || errno != 0 ||
            idmap_find(&raw->seen_location, key_pair(0, id)) != IDMAP_NONE)
            continue;
        on_location(raw, id, OTF2_UNDEFINED_STRING, OTF2_LOCATION_TYPE_CPU_THREAD, 0,
                    (uint32_t)id);
        n++;
    }
    if (files)
        closedir(files);
    return n;
}

static int by_id(const void *a, const void *b)
{
    const struct raw_location *p = a, *q = b;

    return (p->id > q->id) - (p->id < q->id);
}

/* As many as can be in the file. */
static uint64_t most_definitions(const char *dir)
{
    char path[FS_PATH_SIZE];
    struct stat info;

    if (snprintf(path, sizeof path, "%s.def", dir) >= (int)sizeof path ||
        stat(path, &info) != 0)
        return UINT64_MAX; /* in a container: libotf2 finds it */
    return (uint64_t)info.st_size / LEAST_BYTES;
}

/*
 * Some at a time, so that one sees that there is progress. Where a file was damaged, libotf2
 * may read the same part again and again.
 */
static OTF2_ErrorCode read_records(OTF2_Reader *reader, OTF2_GlobalDefReader *defs,
                                   const struct source *source, uint64_t most)
{
    OTF2_ErrorCode status = OTF2_SUCCESS;
    uint64_t n_read = 0, n = BATCH;

    while (status == OTF2_SUCCESS && n == BATCH && n_read <= most) {
        status = OTF2_Reader_ReadGlobalDefinitions(reader, defs, BATCH, &n);
        n_read += n;
        source_progress(source, n_read);
    }
    return n_read > most ? OTF2_ERROR_INTEGRITY_FAULT : status;
}

static OTF2_ErrorCode read_raw(OTF2_Reader *reader, const struct source *source, uint64_t most,
                               struct raw *raw)
{
    OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_ErrorCode status = OTF2_ERROR_FILE_INTERACTION;

    if (defs && callbacks) {
        OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
        OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
        OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
        OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_process);
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
        OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
        OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
        OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
        OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_member);
        OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_metric_class);
        OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(callbacks, on_metric_instance);
        OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, callbacks, raw);
        status = read_records(reader, defs, source, most);
    }
    if (callbacks)
        OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (defs)
        OTF2_Reader_CloseGlobalDefReader(reader, defs);
    return status;
}

static void raw_release(struct raw *raw)
{
    idmap_release(&raw->string_id);
    idmap_release(&raw->seen_location);
    idmap_release(&raw->process_id);
    idmap_release(&raw->group_id);
    free(raw->creator.at);
    free(raw->comm_group.at);
    free(raw->string.at);
    free(raw->region.at);
    free(raw->group.at);
    free(raw->comm.at);
    free(raw->location.at);
    idmap_release(&raw->member_id);
    free(raw->member.at);
    free(raw->metric.at);
    arena_release(&raw->arena);
}

int otf2_definitions_read(OTF2_Reader *reader, const char *dir, struct source *source,
                          struct otf2_tables *tables)
{
    struct definitions *defs = &source->defs;
    struct raw raw = {0};
    OTF2_ErrorCode status = read_raw(reader, source, most_definitions(dir), &raw);
    int rc = 0;

    if (raw.region.n == 0 && status != OTF2_SUCCESS) {
        rc = err_set(ERR_FORMAT, "its definitions cannot be read: %s",
                     OTF2_Error_GetDescription(status));
        goto out;
    }
    if (status != OTF2_SUCCESS || raw.location.n == 0) {
        raw.n_bad++;
        source->quality.n[QUALITY_no_definitions] += add_locations_by_file(&raw, dir);
        qsort(raw.location.at, raw.location.n, sizeof *raw.location.at, by_id);
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
    resolve_metrics(&raw, defs, tables);
    source->quality.n[QUALITY_bad_definition] += raw.n_bad;
out:
    raw_release(&raw);
    return rc;
}

void otf2_tables_release(struct otf2_tables *tables)
{
    idtable_release(&tables->region);
    idtable_release(&tables->comm);
    idtable_release(&tables->metric_id);
    free(tables->metric);
}
