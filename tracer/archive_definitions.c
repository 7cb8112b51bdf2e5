/*
 * Strings are defined where they are first needed, by string(), which numbers them one after
 * the other. A communicator takes three definitions:
 *
 *     group 0: COMM_LOCATIONS    the locations that take part in MPI, by rank
 *     group 1: LOCATIONS         all threads; COMM_LOCATIONS where they have teams
 *     group 3: COMM_SELF         for MPI_COMM_SELF of all ranks
 *     others:  COMM_GROUP        the members of a communicator, or of an epoch of a window, as
 *                                places in group 0; of a team of threads, in group 1
 *     comm                       names its group
 */
#include "archive_definitions.h"

#include "about.h"
#include "builds.h"
#include "team.h"

#include <stdio.h>

struct output {
    OTF2_GlobalDefWriter *writer;
    uint32_t n_strings;
    bool is_failed;
};

struct hosts {
    uint32_t n;
    const char **name; /* [n], of system tree nodes 1 .. n */
};

static void check(struct output *out, OTF2_ErrorCode status)
{
    if (status != OTF2_SUCCESS)
        out->is_failed = true;
}

static OTF2_StringRef string(struct output *out, const char *text)
{
    check(out, OTF2_GlobalDefWriter_WriteString(out->writer, out->n_strings, text));
    return out->n_strings++;
}

static OTF2_StringRef string_part(struct output *out, const char *text, uint32_t n)
{
    char *part = must_copy(text);
    OTF2_StringRef id;

    part[n] = '\0';
    id = string(out, part);
    free(part);
    return id;
}

static void write_clock(struct output *out, const struct unified *u)
{
    uint64_t length_ns = u->last_ns > u->first_ns ? u->last_ns - u->first_ns : 0;

    check(out, OTF2_GlobalDefWriter_WriteClockProperties(
                   out->writer, 1000000000u, u->first_ns, length_ns + 1,
                   u->first_ns + (uint64_t)u->realtime_ns));
    if (team_is_mpi())
        check(out, OTF2_GlobalDefWriter_WriteParadigm(out->writer, OTF2_PARADIGM_MPI,
                                                      string(out, "MPI"),
                                                      OTF2_PARADIGM_CLASS_PROCESS));
}

static void write_regions(struct output *out, const struct unified *u)
{
    OTF2_StringRef empty = string(out, ""), file = empty;

    for (uint32_t i = 0; i < u->n_regions; i++) {
        const struct region *r = &u->region[i];
        OTF2_StringRef name = string(out, r->name), plain = name;

        if (r->n_plain > 0)
            plain = string_part(out, r->name, r->n_plain);
        if (r->file[0] == '\0')
            file = empty;
        else if (file == empty || i == 0 || strcmp(r->file, u->region[i - 1].file) != 0)
            file = string(out, r->file);
        check(out, OTF2_GlobalDefWriter_WriteRegion(out->writer, i, plain, name, empty, r->role,
                                                    r->paradigm, OTF2_REGION_FLAG_NONE, file,
                                                    r->line, 0));
    }
}

static void write_attributes(struct output *out)
{
    static const struct {
        const char *name, *text;
    } row[] = {
        [ATTRIBUTE_EARLIER] = {"snag.earlier", "ns by which it may have been earlier"},
        [ATTRIBUTE_LATER] = {"snag.later", "ns by which it may have been later"},
        [ATTRIBUTE_INLINED] = {"snag.inlined",
                               "as many calls of an inlined function it may be"},
    };

    for (OTF2_AttributeRef i = 0; i < sizeof row / sizeof *row; i++) {
        OTF2_StringRef name = string(out, row[i].name);

        check(out, OTF2_GlobalDefWriter_WriteAttribute(
                       out->writer, i, name, string(out, row[i].text), OTF2_TYPE_UINT64));
    }
}

/* The node of the system tree for a host, the same for all its ranks. */
static uint32_t host_node(struct output *out, struct hosts *hosts, const char *host)
{
    OTF2_StringRef name;

    for (uint32_t i = 0; i < hosts->n; i++)
        if (strcmp(hosts->name[i], host) == 0)
            return i + 1;
    hosts->name = must_resize(hosts->name, hosts->n + 1, sizeof *hosts->name);
    hosts->name[hosts->n++] = host;
    name = string(out, host);
    check(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(out->writer, hosts->n, name,
                                                        string(out, "node"), 0));
    return hosts->n;
}

static void write_locations(struct output *out, const struct unified_rank *rank)
{
    char name[64];

    for (uint32_t i = 0; i < rank->n_locations; i++) {
        const struct location *l = &rank->location[i];

        if (l->thread == 0)
            snprintf(name, sizeof name, "Master thread");
        else
            snprintf(name, sizeof name, "Thread %u", l->thread);
        check(out, OTF2_GlobalDefWriter_WriteLocation(
                       out->writer, (uint64_t)l->thread << 32 | rank->rank, string(out, name),
                       OTF2_LOCATION_TYPE_CPU_THREAD, l->n_events, rank->rank));
    }
}

static void write_of_location(struct output *out, uint64_t id, OTF2_StringRef what,
                              uint64_t value)
{
    check(out,
          OTF2_GlobalDefWriter_WriteLocationProperty(out->writer, id, what, OTF2_TYPE_UINT64,
                                                     (OTF2_AttributeValue){.uint64 = value}));
}

/* What recording took of each thread, and which calls were joined. */
static void write_costs(struct output *out, const struct unified *u)
{
    OTF2_StringRef time = string(out, PROPERTY_TIME), cost = string(out, PROPERTY_COST);
    OTF2_StringRef once = string(out, PROPERTY_COST_ONCE);
    OTF2_StringRef polls = string(out, PROPERTY_POLLS);
    OTF2_StringRef processor_time = string(out, PROPERTY_PROCESSOR_TIME);

    for (uint32_t i = 0; i < u->n_ranks; i++)
        for (uint32_t k = 0; k < u->rank[i].n_locations; k++) {
            const struct location *l = &u->rank[i].location[k];
            uint64_t id = (uint64_t)l->thread << 32 | u->rank[i].rank;

            write_of_location(out, id, time, l->last_ns - l->first_ns);
            write_of_location(out, id, cost, l->cost_ns);
            write_of_location(out, id, once, l->once_ns);
            write_of_location(out, id, processor_time, l->processor_ns);
            write_of_location(out, id, polls, l->n_polls);
        }
}

static void write_of_region(struct output *out, uint32_t rank, const char *what,
                            const char *region, uint64_t value)
{
    size_t bytes = strlen(what) + strlen(region) + 1;
    char *name = must_resize(NULL, bytes, 1);

    snprintf(name, bytes, "%s%s", what, region);
    check(out, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
                   out->writer, rank, string(out, name), OTF2_TYPE_UINT64,
                   (OTF2_AttributeValue){.uint64 = value}));
    free(name);
}

static void write_left_out(struct output *out, const struct unified *u)
{
    for (uint32_t i = 0; i < u->n_ranks; i++)
        for (uint32_t k = 0; k < u->rank[i].n_left_out; k++) {
            const struct left_out *l = &u->rank[i].left_out[k];
            const char *region = u->region[l->region].name;
            uint32_t rank = u->rank[i].rank;

            write_of_region(out, rank, PROPERTY_LEFT_OUT_FROM, region, l->from_ns);
            write_of_region(out, rank, PROPERTY_LEFT_OUT_CALLS, region, l->n_calls);
        }
}

/* Those of the process that writes this: the others run the same. */
static void write_builds(struct output *out)
{
    size_t n;
    const struct build *build = builds_known(&n);

    for (size_t i = 0; i < n; i++) {
        size_t bytes = strlen(PROPERTY_BUILD_ID) + strlen(build[i].path) + 1;
        char *name = must_resize(NULL, bytes, 1);

        snprintf(name, bytes, "%s%s", PROPERTY_BUILD_ID, build[i].path);
        check(out, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
                       out->writer, (uint32_t)team_rank(), string(out, name), OTF2_TYPE_STRING,
                       (OTF2_AttributeValue){.stringRef = string(out, build[i].id)}));
        free(name);
    }
}

static void write_about(void *ctx, const char *key, const char *value)
{
    struct output *out = ctx;

    check(out, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
                   out->writer, (uint32_t)team_rank(), string(out, key), OTF2_TYPE_STRING,
                   (OTF2_AttributeValue){.stringRef = string(out, value)}));
}

/* All ranks in order, also those that are missing: they have no locations. */
static void write_ranks(struct output *out, const struct unified *u, uint32_t n_ranks)
{
    const struct unified_rank **known = must_resize(NULL, n_ranks, sizeof *known);
    OTF2_StringRef machine = string(out, "machine");
    struct hosts hosts = {0};
    char name[64];

    memset(known, 0, n_ranks * sizeof *known);
    for (uint32_t i = 0; i < u->n_ranks; i++)
        if (u->rank[i].rank < n_ranks)
            known[u->rank[i].rank] = &u->rank[i];
    check(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(out->writer, 0, machine, machine,
                                                        OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < n_ranks; i++) {
        uint32_t node = known[i] ? host_node(out, &hosts, known[i]->host) : 0;

        snprintf(name, sizeof name, team_is_mpi() ? "MPI Rank %u" : "Process %u", i);
        check(out, OTF2_GlobalDefWriter_WriteLocationGroup(
                       out->writer, i, string(out, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                       node, OTF2_UNDEFINED_LOCATION_GROUP));
        if (known[i])
            write_locations(out, known[i]);
    }
    free(hosts.name);
    free(known);
}

/* The group of what is at an index in the list of all that take part: of MPI, or of OpenMP. */
static void write_group(struct output *out, OTF2_GroupRef id, OTF2_GroupType type,
                        OTF2_Paradigm paradigm, const uint32_t *member, uint32_t n)
{
    uint64_t *wide = must_resize(NULL, n, sizeof *wide);

    for (uint32_t i = 0; i < n; i++)
        wide[i] = member ? member[i] : i;
    check(out, OTF2_GlobalDefWriter_WriteGroup(out->writer, id, string(out, ""), type, paradigm,
                                               OTF2_GROUP_FLAG_NONE, n, wide));
    free(wide);
}

/* All threads are listed, rank by rank: which one of them a thread of a rank is. */
static uint32_t place_of_thread(const struct unified *u, uint32_t rank, uint32_t thread)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < u->n_ranks; before += u->rank[i++].n_locations)
        for (uint32_t k = 0; u->rank[i].rank == rank && k < u->rank[i].n_locations; k++)
            if (u->rank[i].location[k].thread == thread)
                return before + k;
    return UINT32_MAX;
}

static void write_team_group(struct output *out, const struct unified *u, OTF2_GroupRef id,
                             const struct communicator *team)
{
    uint32_t *place = must_resize(NULL, team->size, sizeof *place), n = 0;

    for (uint32_t i = 0; i < team->size; i++) {
        place[n] = place_of_thread(u, team->first_rank, team->member[i]);
        n += place[n] != UINT32_MAX;
    }
    write_group(out, id, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP, place, n);
    free(place);
}

/* The list of all threads: as what teams of OpenMP are made of, or as it is. */
static void write_threads(struct output *out, const struct unified *u, OTF2_GroupRef id,
                          bool is_of_teams)
{
    uint64_t *location = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < u->n_ranks; i++)
        for (uint32_t k = 0; k < u->rank[i].n_locations; k++) {
            location = must_resize(location, n + 1, sizeof *location);
            location[n++] = (uint64_t)u->rank[i].location[k].thread << 32 | u->rank[i].rank;
        }
    if (is_of_teams)
        check(out, OTF2_GlobalDefWriter_WriteParadigm(out->writer, OTF2_PARADIGM_OPENMP,
                                                      string(out, "OpenMP"),
                                                      OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN));
    check(out, OTF2_GlobalDefWriter_WriteGroup(
                   out->writer, id, string(out, is_of_teams ? "" : "all threads"),
                   is_of_teams ? OTF2_GROUP_TYPE_COMM_LOCATIONS : OTF2_GROUP_TYPE_LOCATIONS,
                   is_of_teams ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_UNKNOWN,
                   OTF2_GROUP_FLAG_NONE, n, location));
    free(location);
}

static const char *name_of(const struct communicator *c, uint32_t id)
{
    if (c->name)
        return c->name;
    return id == COMMUNICATOR_WORLD  ? "MPI_COMM_WORLD"
           : id == COMMUNICATOR_SELF ? "MPI_COMM_SELF"
                                     : "";
}

static void write_group_of(struct output *out, const struct unified *u, uint32_t id)
{
    const struct communicator *c = &u->communicator[id];

    if (communicator_is_team(c))
        write_team_group(out, u, c->group, c);
    else if (id == COMMUNICATOR_SELF)
        write_group(out, c->group, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, NULL, 0);
    else
        write_group(out, c->group, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, c->member,
                    c->size);
}

static bool has_teams(const struct unified *u)
{
    for (uint32_t i = 0; i < u->n_communicators; i++)
        if (communicator_is_team(&u->communicator[i]))
            return true;
    return false;
}

/* Who takes part in MPI, and all threads, of which teams of OpenMP are made if there are any.
 */
static void write_lists(struct output *out, const struct unified *u, uint32_t n_ranks)
{
    if (team_is_mpi())
        write_group(out, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, NULL, n_ranks);
    else
        write_threads(out, u, 0, false);
    write_threads(out, u, 1, has_teams(u));
}

/* Groups are defined in the order of their numbers, which were given out to communicators and
 * objects as they came. */
static void write_groups(struct output *out, const struct unified *u, uint32_t n_ranks)
{
    const struct object *o = u->object, *end = u->object + u->n_objects;

    if (u->n_groups > 0)
        write_lists(out, u, n_ranks);
    for (uint32_t i = 0, k = 0; k < u->n_groups; k++) {
        if (i < u->n_communicators && u->communicator[i].group == UNIFIED_FIRST_GROUP + k) {
            write_group_of(out, u, i++);
            continue;
        }
        while (o < end && o->kind != OBJECT_GROUP)
            o++;
        if (o == end)
            break;
        write_group(out, o->place, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, o->bytes,
                    o->n / (uint32_t)sizeof(uint32_t));
        o++;
    }
}

static void write_communicators(struct output *out, const struct unified *u)
{
    for (uint32_t i = 0; i < u->n_communicators; i++) {
        const struct communicator *c = &u->communicator[i];
        bool is_team = communicator_is_team(c);

        check(out, OTF2_GlobalDefWriter_WriteComm(
                       out->writer, i, string(out, is_team ? "" : name_of(c, i)), c->group,
                       c->parent == COMMUNICATOR_NONE ? OTF2_UNDEFINED_COMM : c->parent,
                       OTF2_COMM_FLAG_NONE));
    }
}

static void write_window(struct output *out, const struct object *o)
{
    char name[64];

    snprintf(name, sizeof name, "Window %u", o->number);
    check(out, OTF2_GlobalDefWriter_WriteRmaWin(out->writer, o->place, string(out, name),
                                                o->communicator,
                                                OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
}

static void write_file(struct output *out, const struct object *o)
{
    check(out, OTF2_GlobalDefWriter_WriteIoRegularFile(out->writer, o->place,
                                                       string(out, o->bytes), 0));
}

static void write_handle(struct output *out, const struct object *o, const char *file_name)
{
    check(out, OTF2_GlobalDefWriter_WriteIoHandle(
                   out->writer, o->place, string(out, file_name), o->file, IO_PARADIGM,
                   OTF2_IO_HANDLE_FLAG_NONE, o->communicator, OTF2_UNDEFINED_IO_HANDLE));
}

/* Files were there before their handles. */
static void write_objects(struct output *out, const struct unified *u)
{
    const char **file_name = must_resize(NULL, u->n_of_kind[OBJECT_FILE], sizeof *file_name);
    OTF2_StringRef name;

    if (u->n_of_kind[OBJECT_FILE] > 0) {
        name = string(out, "MPI-IO");
        check(out, OTF2_GlobalDefWriter_WriteIoParadigm(
                       out->writer, IO_PARADIGM, name, name, OTF2_IO_PARADIGM_CLASS_PARALLEL,
                       OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL));
    }
    for (uint32_t i = 0; i < u->n_objects; i++) {
        const struct object *o = &u->object[i];

        if (o->kind == OBJECT_WINDOW)
            write_window(out, o);
        if (o->kind == OBJECT_FILE) {
            file_name[o->place] = o->bytes;
            write_file(out, o);
        }
        if (o->kind == OBJECT_HANDLE)
            write_handle(out, o, file_name[o->file]);
    }
    free(file_name);
}

bool archive_definitions_write(OTF2_GlobalDefWriter *w, const struct unified *u,
                               uint32_t n_ranks)
{
    struct output out = {.writer = w};

    write_clock(&out, u);
    write_regions(&out, u);
    write_attributes(&out);
    write_ranks(&out, u, n_ranks);
    write_costs(&out, u);
    write_left_out(&out, u);
    write_builds(&out);
    about_each(write_about, &out);
    write_groups(&out, u, n_ranks);
    write_communicators(&out, u);
    write_objects(&out, u);
    return !out.is_failed;
}
