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
 *
 * libotf2 makes the directories of an archive itself, and takes none that is there. So it is
 * given another place, and what it wrote there is moved.
 */
#include "trace/tracer/archive.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/recorder_names.h"
#include "trace/tracer/tracer_otf2.h"

#include <errno.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define DEFINITION_BYTES ((uint64_t)1 << 20)
#define IO_PARADIGM 0        /* the only one that there is */
#define MAX_RANKS (1u << 24) /* who says more is damaged */

struct archive_output {
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *writer;
    const struct unified *u;
    const struct archived_rank *rank; /* [n] */
    size_t n;
    uint32_t n_ranks, n_strings; /* n_ranks: also those that are missing */
    bool is_mpi, is_failed;
};

static void check(struct archive_output *out, OTF2_ErrorCode status)
{
    if (status != OTF2_SUCCESS)
        out->is_failed = true;
}

static OTF2_StringRef string(struct archive_output *out, const char *text)
{
    check(out, OTF2_GlobalDefWriter_WriteString(out->writer, out->n_strings, text));
    return out->n_strings++;
}

static OTF2_StringRef string_part(struct archive_output *out, const char *text, uint32_t n)
{
    char *part = mem_copy_string(text);
    OTF2_StringRef id;

    part[n] = '\0';
    id = string(out, part);
    free(part);
    return id;
}

static uint64_t location_id(const struct archived_rank *rank, size_t i)
{
    return (uint64_t)rank->location[i].from->state->block.thread << 32 | rank->from->head->rank;
}

/* ------------------------------------------------------------------------------ definitions */

static void write_clock(struct archive_output *out)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;

    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->rank[i].from->n_locations; k++) {
            const struct archived_location *l = &out->rank[i].location[k];
            const struct state_head *head = out->rank[i].from->head;
            uint64_t begin_ns = recording_time(head, l->first_ns);
            uint64_t end_ns = recording_time(head, l->last_ns);

            if (l->n_events == 0)
                continue;
            first_ns = begin_ns < first_ns ? begin_ns : first_ns;
            last_ns = end_ns > last_ns ? end_ns : last_ns;
        }
    if (first_ns > last_ns)
        first_ns = last_ns = 0;
    check(out, OTF2_GlobalDefWriter_WriteClockProperties(
                   out->writer, 1000000000u, first_ns, last_ns - first_ns + 1,
                   first_ns + (uint64_t)out->rank[0].from->head->realtime_ns));
    if (out->is_mpi)
        check(out, OTF2_GlobalDefWriter_WriteParadigm(out->writer, OTF2_PARADIGM_MPI,
                                                      string(out, "MPI"),
                                                      OTF2_PARADIGM_CLASS_PROCESS));
}

static void write_regions(struct archive_output *out)
{
    OTF2_StringRef empty = string(out, ""), file = empty;
    const char *before = "";

    for (uint32_t i = 0; i < out->u->region_name.n; i++) {
        const struct unified_region *r = &out->u->region[i];
        OTF2_StringRef name = string(out, r->as->name), plain = name;

        if (r->as->n_plain > 0)
            plain = string_part(out, r->as->name, r->as->n_plain);
        if (strcmp(r->file, before) != 0)
            file = *r->file ? string(out, r->file) : empty;
        before = r->file;
        check(out, OTF2_GlobalDefWriter_WriteRegion(out->writer, i, plain, name, empty,
                                                    (OTF2_RegionRole)r->as->role,
                                                    (OTF2_Paradigm)r->as->paradigm,
                                                    OTF2_REGION_FLAG_NONE, file, r->line, 0));
    }
}

static void write_attributes(struct archive_output *out)
{
    static const struct {
        const char *name, *text;
    } row[] = {
        [ATTRIBUTE_EARLIER] = {NAME_EARLIER, "ns by which it may have been earlier"},
        [ATTRIBUTE_LATER] = {NAME_LATER, "ns by which it may have been later"},
        [ATTRIBUTE_INLINED] = {NAME_INLINED, "as many calls of an inlined function it may be"},
    };

    for (OTF2_AttributeRef i = 0; i < sizeof row / sizeof *row; i++) {
        OTF2_StringRef name = string(out, row[i].name);

        check(out, OTF2_GlobalDefWriter_WriteAttribute(
                       out->writer, i, name, string(out, row[i].text), OTF2_TYPE_UINT64));
    }
}

/* ---------------------------------------------------------------------------------- places */

/* The node of the system tree for a host, the same for all its ranks. */
static uint32_t host_node(struct archive_output *out, struct names *hosts, const char *host)
{
    uint32_t n = hosts->n, id = names_add(hosts, host);
    OTF2_StringRef name;

    if (id == n) {
        name = string(out, host);
        check(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(out->writer, id + 1, name,
                                                            string(out, "node"), 0));
    }
    return id + 1;
}

static void write_locations(struct archive_output *out, const struct archived_rank *rank)
{
    char name[64];

    for (size_t i = 0; i < rank->from->n_locations; i++) {
        const struct archived_location *l = &rank->location[i];
        uint32_t thread = l->from->state->block.thread;

        if (thread == 0)
            snprintf(name, sizeof name, "Master thread");
        else
            snprintf(name, sizeof name, "Thread %u", thread);
        check(out, OTF2_GlobalDefWriter_WriteLocation(
                       out->writer, location_id(rank, i), string(out, name),
                       OTF2_LOCATION_TYPE_CPU_THREAD, l->n_events, rank->from->head->rank));
    }
}

/* A property of a process. */
static void write_text(struct archive_output *out, uint32_t rank, OTF2_StringRef name,
                       const char *value)
{
    check(out, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
                   out->writer, rank, name, OTF2_TYPE_STRING,
                   (OTF2_AttributeValue){.stringRef = string(out, value)}));
}

/* All ranks in order, also those that are missing: they have no locations. */
static void write_ranks(struct archive_output *out)
{
    OTF2_StringRef machine = string(out, "machine");
    const struct archived_rank *rank = out->rank;
    struct names hosts = {0};
    char name[64];

    check(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(out->writer, 0, machine, machine,
                                                        OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < out->n_ranks; i++) {
        bool is_known = rank < out->rank + out->n && rank->from->head->rank == i;
        uint32_t node = is_known ? host_node(out, &hosts, rank->from->head->host) : 0;

        snprintf(name, sizeof name, out->is_mpi ? "MPI Rank %u" : "Process %u", i);
        check(out, OTF2_GlobalDefWriter_WriteLocationGroup(
                       out->writer, i, string(out, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                       node, OTF2_UNDEFINED_LOCATION_GROUP));
        if (is_known)
            write_locations(out, rank++);
        else
            write_text(out, i, string(out, PROPERTY_TROUBLE), "a rank left nothing");
    }
    names_release(&hosts);
}

/* ------------------------------------------------------------------------------- properties */

static void write_of_location(struct archive_output *out, uint64_t id, OTF2_StringRef what,
                              uint64_t value)
{
    check(out,
          OTF2_GlobalDefWriter_WriteLocationProperty(out->writer, id, what, OTF2_TYPE_UINT64,
                                                     (OTF2_AttributeValue){.uint64 = value}));
}

/* What recording took of each thread, which calls were joined, and which were lost. */
static void write_costs(struct archive_output *out)
{
    OTF2_StringRef time = string(out, PROPERTY_TIME), cost = string(out, PROPERTY_COST);
    OTF2_StringRef once = string(out, PROPERTY_COST_ONCE);
    OTF2_StringRef polls = string(out, PROPERTY_POLLS);
    OTF2_StringRef processor_time = string(out, PROPERTY_PROCESSOR_TIME);
    OTF2_StringRef lost = string(out, PROPERTY_LOST);

    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->rank[i].from->n_locations; k++) {
            const struct archived_location *l = &out->rank[i].location[k];
            const struct state_location *s = l->from->state;
            uint64_t id = location_id(&out->rank[i], k);
            uint64_t n_lost = l->n_lost + (k == 0 ? out->rank[i].n_lost : 0);

            write_of_location(out, id, time, l->last_ns - l->first_ns);
            write_of_location(out, id, cost, s->cost_ns);
            write_of_location(out, id, once, s->once_ns);
            write_of_location(out, id, processor_time, s->processor_ns);
            write_of_location(out, id, polls, s->n_polls);
            if (n_lost > 0)
                write_of_location(out, id, lost, n_lost);
        }
}

static OTF2_StringRef joined(struct archive_output *out, const char *what, const char *of)
{
    size_t bytes = strlen(what) + strlen(of) + 1;
    char *text = mem_resize(NULL, bytes, 1);
    OTF2_StringRef id;

    snprintf(text, bytes, "%s%s", what, of);
    id = string(out, text);
    free(text);
    return id;
}

static void write_number(struct archive_output *out, uint32_t rank, OTF2_StringRef name,
                         uint64_t value)
{
    check(out, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
                   out->writer, rank, name, OTF2_TYPE_UINT64,
                   (OTF2_AttributeValue){.uint64 = value}));
}

static void write_left_out(struct archive_output *out, const struct archived_rank *rank)
{
    for (size_t i = 0; i < rank->from->n_left_out; i++) {
        const struct recorded_left_out *l = &rank->from->left_out[i];
        const char *name;

        if (l->region >= rank->from->n_regions || l->n_calls == 0)
            continue;
        name = rank->from->region[l->region].name;
        write_number(out, rank->from->head->rank, joined(out, PROPERTY_LEFT_OUT_FROM, name),
                     recording_time(rank->from->head, l->from_ns));
        write_number(out, rank->from->head->rank, joined(out, PROPERTY_LEFT_OUT_CALLS, name),
                     l->n_calls);
    }
}

/* What ended the recording before the process ended, if anything did. */
static int error_of(const struct recording *from)
{
    uint32_t error = from->head->error ? from->head->error : from->head->lost_error;

    for (size_t i = 0; i < from->n_locations && error == 0; i++)
        error = from->location[i].state->error;
    return (int)error;
}

/* Why calls are missing where nothing went wrong; NULL: none is. */
static const char *why_missed(const struct recording *from)
{
    const char *why = NULL;

    for (size_t i = 0; i < from->n_locations; i++) {
        const struct state_location *s = from->location[i].state;

        if (s->n_early > 0)
            return "there were too many before MPI_Init";
        if (s->n_missed > 0)
            why = "they were made in signal handlers that came while the tracer was at work";
    }
    return why;
}

static void write_process(struct archive_output *out, const struct archived_rank *rank)
{
    const struct state_head *head = rank->from->head;
    int error = error_of(rank->from);
    const char *why = error == ENOSPC ? "disk full (No space left on device)"
                      : error         ? strerror(error)
                                      : why_missed(rank->from);

    write_left_out(out, rank);
    if (head->ending == STATE_RUNS)
        write_text(out, head->rank, string(out, PROPERTY_ENDING), "a signal, _exit or exec");
    else if (head->ending == STATE_ABORTED)
        write_text(out, head->rank, string(out, PROPERTY_ENDING), "MPI_Abort");
    else if (head->ending == STATE_EXITED && head->is_mpi)
        write_text(out, head->rank, string(out, PROPERTY_ENDING), "exit, without MPI_Finalize");
    if (why)
        write_text(out, head->rank, string(out, PROPERTY_TROUBLE), why);
}

/* What all processes have in common, as the first of them has it. */
static void write_about(struct archive_output *out)
{
    const struct recording *from = out->rank[0].from;

    for (size_t i = 0; i < from->n_codes; i++)
        if (*from->code[i].build_id)
            write_text(out, from->head->rank,
                       joined(out, PROPERTY_BUILD_ID, from->code[i].path),
                       from->code[i].build_id);
    for (size_t i = 0; i < from->n_about; i++)
        write_text(out, from->head->rank, string(out, from->about[i].key),
                   from->about[i].value);
}

/* ----------------------------------------------------------------------------------- groups */

/* The group of what is at an index in the list of all that take part: of MPI, or of OpenMP. */
static void write_group(struct archive_output *out, OTF2_GroupRef id, OTF2_GroupType type,
                        OTF2_Paradigm paradigm, const uint64_t *member, uint32_t n)
{
    check(out, OTF2_GlobalDefWriter_WriteGroup(out->writer, id, string(out, ""), type, paradigm,
                                               OTF2_GROUP_FLAG_NONE, n, member));
}

/* All threads are listed, rank by rank: those of a rank that are in a team. */
static void write_team_group(struct archive_output *out, const struct unified_communicator *c)
{
    uint64_t *place = NULL, before = 0;
    size_t cap = 0;
    uint32_t n = 0;

    for (size_t i = 0; i < out->n; before += out->rank[i++].from->n_locations) {
        const struct recording *from = out->rank[i].from;

        if (from->head->rank != c->first_rank)
            continue;
        for (size_t k = 0; k < from->n_locations; k++) {
            uint32_t thread = from->location[k].state->block.thread;

            if (thread / 64 >= c->team->n_words ||
                !(c->team->member[thread / 64] >> thread % 64 & 1))
                continue;
            *mem_push(&place, &n, &cap) = before + k;
        }
    }
    write_group(out, c->group, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP, place, n);
    free(place);
}

static void write_members(struct archive_output *out, const struct unified_communicator *c)
{
    uint64_t *member = mem_resize(NULL, c->size, sizeof *member);
    uint32_t n = 0;

    for (size_t i = 0; i < c->n_runs; i++)
        for (uint32_t k = 0; k < c->run[i][2]; k++)
            member[n++] = c->run[i][0] + k * c->run[i][1];
    write_group(out, c->group, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, member, n);
    free(member);
}

static void write_group_of(struct archive_output *out, uint32_t id)
{
    const struct unified_communicator *c = &out->u->communicator[id];

    if (c->team)
        write_team_group(out, c);
    else if (id == UNIFY_SELF)
        write_group(out, c->group, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, NULL, 0);
    else
        write_members(out, c);
}

/* Of the epoch of a window. */
static void write_epoch_group(struct archive_output *out, const struct unified_object *o)
{
    uint32_t n = o->n / (uint32_t)sizeof(uint32_t), one;
    uint64_t *member = mem_resize(NULL, n, sizeof *member);

    for (uint32_t i = 0; i < n; i++) {
        memcpy(&one, (const char *)o->bytes + i * sizeof one, sizeof one);
        member[i] = one;
    }
    write_group(out, o->place, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, member, n);
    free(member);
}

/* The list of all threads: as what teams of OpenMP are made of, or as it is. */
static void write_threads(struct archive_output *out, OTF2_GroupRef id, bool is_of_teams)
{
    uint64_t *location = NULL;
    size_t cap = 0;
    uint32_t n = 0;

    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->rank[i].from->n_locations; k++) {
            *mem_push(&location, &n, &cap) = location_id(&out->rank[i], k);
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

/* Who takes part in MPI, and all threads, of which teams of OpenMP are made if there are any.
 */
static void write_lists(struct archive_output *out)
{
    uint64_t *member = mem_resize(NULL, out->n_ranks, sizeof *member);
    bool has_teams = false;

    for (uint32_t i = 0; i < out->n_ranks; i++)
        member[i] = i;
    if (out->is_mpi)
        write_group(out, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, member,
                    out->n_ranks);
    else
        write_threads(out, 0, false);
    free(member);
    for (size_t i = 0; i < out->u->n_communicators; i++)
        has_teams |= out->u->communicator[i].team != NULL;
    write_threads(out, 1, has_teams);
}

/* Groups are defined in the order of their numbers, which were given out to communicators and
 * objects as they came. */
static void write_groups(struct archive_output *out)
{
    const struct unified_object *o = out->u->object, *end = o + out->u->n_objects;

    if (out->u->n_groups > 0)
        write_lists(out);
    for (uint32_t i = 0, k = 0; k < out->u->n_groups; k++) {
        if (i < out->u->n_communicators &&
            out->u->communicator[i].group == UNIFY_FIRST_GROUP + k) {
            write_group_of(out, i++);
            continue;
        }
        while (o < end && o->kind != TRACER_GROUP)
            o++;
        if (o == end)
            break;
        write_epoch_group(out, o++);
    }
}

static const char *name_of(const struct unified_communicator *c, uint32_t id)
{
    if (*c->name || c->team)
        return c->name;
    return id == UNIFY_WORLD ? "MPI_COMM_WORLD" : id == UNIFY_SELF ? "MPI_COMM_SELF" : "";
}

static void write_communicators(struct archive_output *out)
{
    for (uint32_t i = 0; i < out->u->n_communicators; i++) {
        const struct unified_communicator *c = &out->u->communicator[i];

        check(out, OTF2_GlobalDefWriter_WriteComm(
                       out->writer, i, string(out, name_of(c, i)), c->group,
                       c->parent == UNIFY_NONE ? OTF2_UNDEFINED_COMM : c->parent,
                       OTF2_COMM_FLAG_NONE));
    }
}

/* ---------------------------------------------------------------------------------- objects */

static void write_window(struct archive_output *out, const struct unified_object *o)
{
    char name[64];

    snprintf(name, sizeof name, "Window %u", o->number);
    check(out, OTF2_GlobalDefWriter_WriteRmaWin(out->writer, o->place, string(out, name),
                                                o->communicator,
                                                OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
}

static void write_handle(struct archive_output *out, const struct unified_object *o,
                         const char *file_name)
{
    check(out, OTF2_GlobalDefWriter_WriteIoHandle(
                   out->writer, o->place, string(out, file_name), o->file, IO_PARADIGM,
                   OTF2_IO_HANDLE_FLAG_NONE, o->communicator, OTF2_UNDEFINED_IO_HANDLE));
}

/* Files were there before their handles. */
static void write_objects(struct archive_output *out)
{
    const char **file_name = mem_alloc(out->u->n_of_kind[TRACER_FILE], sizeof *file_name);
    OTF2_StringRef name;

    if (out->u->n_of_kind[TRACER_FILE] > 0) {
        name = string(out, "MPI-IO");
        check(out, OTF2_GlobalDefWriter_WriteIoParadigm(
                       out->writer, IO_PARADIGM, name, name, OTF2_IO_PARADIGM_CLASS_PARALLEL,
                       OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL));
    }
    for (size_t i = 0; i < out->u->n_objects; i++) {
        const struct unified_object *o = &out->u->object[i];

        if (o->kind == TRACER_WINDOW)
            write_window(out, o);
        if (o->kind == TRACER_FILE) {
            file_name[o->place] = o->bytes;
            check(out, OTF2_GlobalDefWriter_WriteIoRegularFile(out->writer, o->place,
                                                               string(out, o->bytes), 0));
        }
        if (o->kind == TRACER_HANDLE)
            write_handle(out, o, file_name[o->file]);
    }
    free(file_name);
}

static void write_whole(struct archive_output *out)
{
    out->writer = OTF2_Archive_GetGlobalDefWriter(out->archive);
    if (out->writer == NULL) {
        out->is_failed = true;
        return;
    }
    write_clock(out);
    write_regions(out);
    write_attributes(out);
    write_ranks(out);
    write_costs(out);
    for (size_t i = 0; i < out->n; i++)
        write_process(out, &out->rank[i]);
    write_about(out);
    write_groups(out);
    write_communicators(out);
    write_objects(out);
    check(out, OTF2_Archive_CloseGlobalDefWriter(out->archive, out->writer));
}

/* --------------------------------------------------------------------- of each location */

static OTF2_IdMap *make_map(const uint32_t *to, size_t n)
{
    return n ? OTF2_IdMap_CreateFromUint32Array(n, to, true) : NULL;
}

/* Teams have numbers behind those that communicators of MPI may have. */
static OTF2_IdMap *map_communicators(const struct archived_rank *rank)
{
    size_t n = rank->from->n_communicators, n_teams = rank->from->n_teams;
    OTF2_IdMap *ids;

    if (n_teams == 0)
        return make_map(rank->map.communicator, n);
    ids = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, n + n_teams);
    for (size_t i = 0; ids && i < n; i++)
        OTF2_IdMap_AddIdPair(ids, i, rank->map.communicator[i]);
    for (size_t i = 0; ids && i < n_teams; i++)
        OTF2_IdMap_AddIdPair(ids, STATE_FIRST_TEAM + i, rank->map.team[i]);
    return ids;
}

static void write_map(struct archive_output *out, OTF2_DefWriter *w, OTF2_MappingType type,
                      const OTF2_IdMap *map)
{
    if (map)
        check(out, OTF2_DefWriter_WriteMappingTable(w, type, map));
}

static void write_local(struct archive_output *out, const struct archived_rank *rank,
                        OTF2_IdMap *const map[3], uint64_t id)
{
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(out->archive, id);
    const struct state_head *head = rank->from->head;

    if (w == NULL) {
        out->is_failed = true;
        return;
    }
    write_map(out, w, OTF2_MAPPING_REGION, map[0]);
    write_map(out, w, OTF2_MAPPING_COMM, map[1]);
    write_map(out, w, OTF2_MAPPING_RMA_WIN, map[2]);
    write_map(out, w, OTF2_MAPPING_GROUP, map[2]);
    write_map(out, w, OTF2_MAPPING_IO_FILE, map[2]);
    write_map(out, w, OTF2_MAPPING_IO_HANDLE, map[2]);
    for (uint32_t i = 0; i < recording_n_offsets(head); i++)
        check(out, OTF2_DefWriter_WriteClockOffset(w, head->offset[i].time_ns,
                                                   head->offset[i].offset_ns,
                                                   head->offset[i].error_ns));
    check(out, OTF2_Archive_CloseDefWriter(out->archive, w));
}

static void write_locals(struct archive_output *out)
{
    check(out, OTF2_Archive_OpenDefFiles(out->archive));
    for (size_t i = 0; i < out->n && !out->is_failed; i++) {
        const struct archived_rank *rank = &out->rank[i];
        OTF2_IdMap *map[] = {make_map(rank->map.region, rank->from->n_regions),
                             map_communicators(rank),
                             make_map(rank->map.object, rank->from->n_objects)};

        for (size_t k = 0; k < rank->from->n_locations; k++)
            write_local(out, rank, map, location_id(rank, k));
        for (size_t k = 0; k < sizeof map / sizeof *map; k++)
            if (map[k])
                OTF2_IdMap_Free(map[k]);
    }
    check(out, OTF2_Archive_CloseDefFiles(out->archive));
}

/* ------------------------------------------------------------------------------- the archive
 */

static OTF2_FlushType before_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_final)
{
    (void)arg, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

/* Its messages are about what follows from what went wrong: what we say is enough. */
static OTF2_ErrorCode ignore_message(void *arg, const char *file, uint64_t line,
                                     const char *function, OTF2_ErrorCode code,
                                     const char *format, va_list args)
{
    (void)arg, (void)file, (void)line, (void)function, (void)format, (void)args;
    return code;
}

static bool open_archive(struct archive_output *out, const char *directory)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};

    OTF2_Error_RegisterCallback(ignore_message, NULL);
    out->archive =
        OTF2_Archive_Open(directory, ARCHIVE_NAME, OTF2_FILEMODE_WRITE, TRACER_OTF2_CHUNK,
                          DEFINITION_BYTES, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    return out->archive &&
           OTF2_Archive_SetFlushCallbacks(out->archive, &flush, NULL) == OTF2_SUCCESS &&
           OTF2_Archive_SetSerialCollectiveCallbacks(out->archive) == OTF2_SUCCESS &&
           OTF2_Archive_SetCreator(out->archive, "snag-tracer") == OTF2_SUCCESS;
}

static int move(const char *from, const char *to, const char *name)
{
    char old[FS_PATH_SIZE], new[FS_PATH_SIZE];
    int rc = fs_join(old, from, name);

    if (rc == 0)
        rc = fs_join(new, to, name);
    if (rc == 0 && rename(old, new) != 0)
        rc = err_set(ERR_IO, "cannot rename '%s' to '%s': %s", old, new, strerror(errno));
    return rc;
}

/* The anchor comes last. */
static int move_all(const struct archive_output *out, const char *from, const char *to)
{
    char name[64];
    int rc = 0;

    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->rank[i].from->n_locations && rc == 0; k++) {
            snprintf(name, sizeof name, ARCHIVE_NAME "/%llu.def",
                     (unsigned long long)location_id(&out->rank[i], k));
            rc = move(from, to, name);
        }
    if (rc == 0)
        rc = move(from, to, ARCHIVE_NAME ".def");
    return rc < 0 ? rc : move(from, to, ARCHIVE_NAME ".otf2");
}

/* libotf2 does not look at whether it could write the anchor. */
static bool is_readable(const char *workplace)
{
    char path[FS_PATH_SIZE];
    OTF2_Reader *reader =
        fs_join(path, workplace, ARCHIVE_NAME ".otf2") == 0 ? OTF2_Reader_Open(path) : NULL;

    if (reader)
        OTF2_Reader_Close(reader);
    return reader != NULL;
}

static int cannot_write(const char *directory)
{
    struct statvfs disk;
    char room[TEXT_SIZE];

    if (statvfs(directory, &disk) != 0)
        return err_set(ERR_IO, "cannot write the definitions of '%s'", directory);
    return err_set(ERR_IO, "cannot write the definitions of '%s': its disk has %s free",
                   directory, text_bytes((double)disk.f_bavail * (double)disk.f_frsize, room));
}

int archive_write(const char *directory, const char *workplace, const struct unified *u,
                  const struct archived_rank *rank, size_t n)
{
    const struct state_head *first = rank[0].from->head;
    struct archive_output out = {.u = u,
                                 .rank = rank,
                                 .n = n,
                                 .is_mpi = first->is_mpi,
                                 .n_ranks = rank[n - 1].from->head->rank + 1};
    int rc = fs_remove_tree(workplace); /* of somebody who was interrupted */

    if (rc < 0)
        return rc;
    if (first->n_ranks > out.n_ranks && first->n_ranks <= MAX_RANKS)
        out.n_ranks = first->n_ranks;
    out.is_failed = !open_archive(&out, workplace);
    if (!out.is_failed)
        write_locals(&out);
    if (!out.is_failed)
        write_whole(&out);
    if (out.archive)
        check(&out, OTF2_Archive_Close(out.archive));
    if (out.is_failed || !is_readable(workplace))
        return cannot_write(directory);
    return move_all(&out, workplace, directory);
}
