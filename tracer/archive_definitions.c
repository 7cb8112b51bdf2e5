/*
 * Strings are defined where they are first needed, by string(), which numbers them one after
 * the other. A communicator takes three definitions:
 *
 *     group 0: COMM_LOCATIONS    the locations that take part in MPI, by rank
 *     group 1: COMM_SELF         for MPI_COMM_SELF of all ranks
 *     group n: COMM_GROUP        the members of a communicator, as places in group 0
 *     comm                       names its group
 */
#include "archive_definitions.h"

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
    OTF2_StringRef empty = string(out, "");

    for (uint32_t i = 0; i < u->n_regions; i++) {
        OTF2_StringRef name = string(out, u->region[i].name);

        check(out, OTF2_GlobalDefWriter_WriteRegion(out->writer, i, name, name, empty,
                                                    u->region[i].role, u->region[i].paradigm,
                                                    OTF2_REGION_FLAG_NONE, empty, 0, 0));
    }
}

static void write_attributes(struct output *out)
{
    static const struct {
        const char *name, *text;
    } row[] = {
        [ATTRIBUTE_EARLIER] = {"snag.earlier", "ns by which it may have been earlier"},
        [ATTRIBUTE_LATER] = {"snag.later", "ns by which it may have been later"},
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

/* What recording took of each thread. */
static void write_costs(struct output *out, const struct unified *u)
{
    OTF2_StringRef time = string(out, PROPERTY_TIME), cost = string(out, PROPERTY_COST);

    for (uint32_t i = 0; i < u->n_ranks; i++)
        for (uint32_t k = 0; k < u->rank[i].n_locations; k++) {
            const struct location *l = &u->rank[i].location[k];
            uint64_t id = (uint64_t)l->thread << 32 | u->rank[i].rank;

            check(out, OTF2_GlobalDefWriter_WriteLocationProperty(
                           out->writer, id, time, OTF2_TYPE_UINT64,
                           (OTF2_AttributeValue){.uint64 = l->last_ns - l->first_ns}));
            check(out, OTF2_GlobalDefWriter_WriteLocationProperty(
                           out->writer, id, cost, OTF2_TYPE_UINT64,
                           (OTF2_AttributeValue){.uint64 = l->cost_ns}));
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

static void write_group(struct output *out, OTF2_GroupRef id, OTF2_GroupType type,
                        const uint32_t *member, uint32_t n)
{
    uint64_t *wide = must_resize(NULL, n, sizeof *wide);

    for (uint32_t i = 0; i < n; i++)
        wide[i] = member ? member[i] : i;
    check(out,
          OTF2_GlobalDefWriter_WriteGroup(out->writer, id, string(out, ""), type,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, wide));
    free(wide);
}

static const char *name_of(const struct communicator *c, uint32_t id)
{
    if (c->name)
        return c->name;
    return id == COMMUNICATOR_WORLD  ? "MPI_COMM_WORLD"
           : id == COMMUNICATOR_SELF ? "MPI_COMM_SELF"
                                     : "";
}

static void write_communicators(struct output *out, const struct unified *u, uint32_t n_ranks)
{
    write_group(out, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, NULL, n_ranks);
    for (uint32_t i = 0; i < u->n_communicators; i++) {
        const struct communicator *c = &u->communicator[i];

        if (i == COMMUNICATOR_SELF)
            write_group(out, i + 1, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
        else
            write_group(out, i + 1, OTF2_GROUP_TYPE_COMM_GROUP, c->member, c->size);
        check(out, OTF2_GlobalDefWriter_WriteComm(
                       out->writer, i, string(out, name_of(c, i)), i + 1,
                       c->parent == COMMUNICATOR_NONE ? OTF2_UNDEFINED_COMM : c->parent,
                       OTF2_COMM_FLAG_NONE));
    }
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
    if (team_is_mpi())
        write_communicators(&out, u, n_ranks);
    return !out.is_failed;
}
