/*
 * libotf2 asks for collectives through callbacks. With plain files it needs two things: who is
 * rank 0, and one broadcast when the archive is opened. So the rest works without MPI, which a
 * program that ends without MPI_Finalize depends on.
 *
 * An event buffer is one piece of memory that is written to the file whenever it is full. The
 * recorder measures that as part of its flush, so libotf2 need not record it again.
 */
#include "archive.h"

#include "archive_access.h"
#include "archive_definitions.h"
#include "complain.h"
#include "openmp.h"
#include "team.h"

#include <otf2/OTF2_Pthread_Locks.h>
#include <otf2/otf2.h>

#include <stdio.h>
#include <stdlib.h>

#define EVENT_BUFFER_BYTES (1 << 20)
#define DEFINITION_BUFFER_BYTES (1 << 20)

struct archive_location {
    OTF2_EvtWriter *writer;
    OTF2_AttributeList *attributes; /* of the next event; libotf2 empties it */
    uint64_t n_events, first_ns, last_ns;
};

struct OTF2_CollectiveContext {
    uint32_t rank, size; /* the rank may become 0: archive_lead */
};

static struct OTF2_CollectiveContext context;
static OTF2_Archive *archive;
static uint32_t own_rank;

static uint64_t location_id(const struct recorder *r)
{
    return (uint64_t)r->thread << 32 | own_rank;
}

/* ---------------------------------------------------------------------- libotf2's callbacks */

/* Its first complaint is worth reading; those that follow from it are not. */
static OTF2_ErrorCode on_error(void *arg, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list args)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    char text[512];

    (void)arg, (void)file, (void)line, (void)function;
    if (atomic_flag_test_and_set(&is_said))
        return code;
    vsnprintf(text, sizeof text, format, args);
    complain("libotf2: %s: %s", OTF2_Error_GetDescription(code), text);
    return code;
}

static OTF2_FlushType before_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_final)
{
    (void)arg, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

static OTF2_CallbackCode get_size(void *arg, OTF2_CollectiveContext *c, uint32_t *size)
{
    (void)arg;
    *size = c->size;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode get_rank(void *arg, OTF2_CollectiveContext *c, uint32_t *rank)
{
    (void)arg;
    *rank = c->rank;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode broadcast(void *arg, OTF2_CollectiveContext *c, void *data, uint32_t n,
                                   OTF2_Type type, uint32_t root)
{
    size_t width = type == OTF2_TYPE_UINT64 || type == OTF2_TYPE_INT64   ? 8
                   : type == OTF2_TYPE_UINT32 || type == OTF2_TYPE_INT32 ? 4
                   : type == OTF2_TYPE_UINT16 || type == OTF2_TYPE_INT16 ? 2
                   : type == OTF2_TYPE_UINT8 || type == OTF2_TYPE_INT8   ? 1
                                                                         : 0;

    (void)arg, (void)c;
    return width > 0 && root == 0 && team_broadcast(data, n * width) ? OTF2_CALLBACK_SUCCESS
                                                                     : OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode barrier(void *arg, OTF2_CollectiveContext *c)
{
    (void)arg, (void)c;
    return team_barrier() ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR;
}

/* These four libotf2 wants to be given, and calls for file formats that we do not use. */
static OTF2_CallbackCode no_gather(void *arg, OTF2_CollectiveContext *c, const void *in,
                                   void *out, uint32_t n, OTF2_Type type, uint32_t root)
{
    (void)arg, (void)c, (void)in, (void)out, (void)n, (void)type, (void)root;
    return OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode no_gatherv(void *arg, OTF2_CollectiveContext *c, const void *in,
                                    uint32_t n_in, void *out, const uint32_t *n_out,
                                    OTF2_Type type, uint32_t root)
{
    (void)arg, (void)c, (void)in, (void)n_in, (void)out, (void)n_out, (void)type, (void)root;
    return OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode no_scatterv(void *arg, OTF2_CollectiveContext *c, const void *in,
                                     const uint32_t *n_in, void *out, uint32_t n_out,
                                     OTF2_Type type, uint32_t root)
{
    (void)arg, (void)c, (void)in, (void)n_in, (void)out, (void)n_out, (void)type, (void)root;
    return OTF2_CALLBACK_ERROR;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = before_flush};
static const OTF2_CollectiveCallbacks collective_callbacks = {
    .otf2_get_size = get_size,
    .otf2_get_rank = get_rank,
    .otf2_barrier = barrier,
    .otf2_bcast = broadcast,
    .otf2_gather = no_gather,
    .otf2_gatherv = no_gatherv,
    .otf2_scatter = no_gather,
    .otf2_scatterv = no_scatterv,
};

/* ---------------------------------------------------------------------------------- opening */

bool archive_open(const char *directory)
{
    own_rank = (uint32_t)team_rank();
    context = (struct OTF2_CollectiveContext){own_rank, (uint32_t)team_size()};
    OTF2_Error_RegisterCallback(on_error, NULL);
    archive =
        OTF2_Archive_Open(directory, ARCHIVE_NAME, OTF2_FILEMODE_WRITE, EVENT_BUFFER_BYTES,
                          DEFINITION_BUFFER_BYTES, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive && OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL) == OTF2_SUCCESS &&
        OTF2_Archive_SetFlushCallbacks(archive, &flush_callbacks, NULL) == OTF2_SUCCESS &&
        OTF2_Archive_SetCollectiveCallbacks(archive, &collective_callbacks, NULL, &context,
                                            NULL) == OTF2_SUCCESS &&
        OTF2_Archive_SetCreator(archive, "snag-tracer") == OTF2_SUCCESS &&
        OTF2_Archive_OpenEvtFiles(archive) == OTF2_SUCCESS)
        return true;
    if (own_rank == 0)
        complain("cannot make an archive in '%s'; nothing is recorded", directory);
    return false;
}

/* ----------------------------------------------------------------------------------- events */

static OTF2_ErrorCode write_message(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns, bytes = s[1].message.bytes;
    uint32_t comm = s->head.id, peer = s[1].message.peer, tag = s[1].message.tag;

    switch (s->head.kind) {
    case RECORD_SEND:
        return OTF2_EvtWriter_MpiSend(w, NULL, time_ns, peer, comm, tag, bytes);
    case RECORD_RECV:
        return OTF2_EvtWriter_MpiRecv(w, NULL, time_ns, peer, comm, tag, bytes);
    case RECORD_ISEND:
        return OTF2_EvtWriter_MpiIsend(w, NULL, time_ns, peer, comm, tag, bytes,
                                       s[2].request.id);
    default:
        return OTF2_EvtWriter_MpiIrecv(w, NULL, time_ns, peer, comm, tag, bytes,
                                       s[2].request.id);
    }
}

/* How much earlier and later it may have been are differences, as the clocks of ranks are put
 * right by readers who know nothing of our attributes. */
static OTF2_ErrorCode write_between(struct archive_location *l, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns, earliest_ns = s[1].between.earliest_ns;

    if (l->attributes == NULL)
        l->attributes = OTF2_AttributeList_New();
    OTF2_AttributeList_AddUint64(l->attributes, ATTRIBUTE_EARLIER,
                                 time_ns > earliest_ns ? time_ns - earliest_ns : 0);
    OTF2_AttributeList_AddUint64(
        l->attributes, ATTRIBUTE_LATER,
        s[1].between.latest_ns > time_ns ? s[1].between.latest_ns - time_ns : 0);
    if (s->head.kind == RECORD_LEAVE_INLINED)
        OTF2_AttributeList_AddUint64(l->attributes, ATTRIBUTE_INLINED, s[2].inlined.most_calls);
    return s->head.kind == RECORD_ENTER_BETWEEN
               ? OTF2_EvtWriter_Enter(l->writer, l->attributes, time_ns, s->head.id)
               : OTF2_EvtWriter_Leave(l->writer, l->attributes, time_ns, s->head.id);
}

static OTF2_ErrorCode write_team(OTF2_EvtWriter *w, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns;

    switch (s->head.kind) {
    case RECORD_FORK:
        return OTF2_EvtWriter_ThreadFork(w, NULL, time_ns, OTF2_PARADIGM_OPENMP, s->head.id);
    case RECORD_JOIN:
        return OTF2_EvtWriter_ThreadJoin(w, NULL, time_ns, OTF2_PARADIGM_OPENMP);
    case RECORD_TEAM_BEGIN:
        return OTF2_EvtWriter_ThreadTeamBegin(w, NULL, time_ns, s->head.id);
    default:
        return OTF2_EvtWriter_ThreadTeamEnd(w, NULL, time_ns, s->head.id);
    }
}

static OTF2_ErrorCode write_record(struct archive_location *l, const union slot *s)
{
    OTF2_EvtWriter *w = l->writer;
    uint64_t time_ns = s->head.time_ns;

    switch (s->head.kind) {
    case RECORD_ENTER:
        return OTF2_EvtWriter_Enter(w, NULL, time_ns, s->head.id);
    case RECORD_LEAVE:
        return OTF2_EvtWriter_Leave(w, NULL, time_ns, s->head.id);
    case RECORD_ENTER_BETWEEN:
    case RECORD_LEAVE_BETWEEN:
    case RECORD_LEAVE_INLINED:
        return write_between(l, s);
    case RECORD_ISEND_COMPLETE:
        return OTF2_EvtWriter_MpiIsendComplete(w, NULL, time_ns, s[1].request.id);
    case RECORD_IRECV_REQUEST:
        return OTF2_EvtWriter_MpiIrecvRequest(w, NULL, time_ns, s[1].request.id);
    case RECORD_CANCELLED:
        return OTF2_EvtWriter_MpiRequestCancelled(w, NULL, time_ns, s[1].request.id);
    case RECORD_COLLECTIVE_BEGIN:
        return OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, time_ns);
    case RECORD_COLLECTIVE_END:
        return OTF2_EvtWriter_MpiCollectiveEnd(
            w, NULL, time_ns, (OTF2_CollectiveOp)s[1].collective.operation, s->head.id,
            s[1].collective.root, s[1].collective.sent_bytes,
            s[2].collective_more.received_bytes);
    case RECORD_ICOLLECTIVE_REQUEST:
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, time_ns, s[1].request.id);
    case RECORD_ICOLLECTIVE:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(
            w, NULL, time_ns, (OTF2_CollectiveOp)s[1].collective.operation, s->head.id,
            s[1].collective.root, s[1].collective.sent_bytes,
            s[2].collective_more.received_bytes, s[2].collective_more.request);
    case RECORD_FLUSH:
        return OTF2_EvtWriter_BufferFlush(w, NULL, time_ns, s[1].flush.end_ns);
    default:
        return archive_access_is(s->head.kind) ? archive_access_write(w, s)
               : s->head.kind >= RECORD_FORK   ? write_team(w, s)
                                               : write_message(w, s);
    }
}

static struct archive_location *location_of(struct recorder *r)
{
    struct archive_location *l = r->location;

    if (l)
        return l;
    l = must_resize(NULL, 1, sizeof *l);
    *l =
        (struct archive_location){.writer = OTF2_Archive_GetEvtWriter(archive, location_id(r))};
    r->location = l;
    return l;
}

static bool take(struct recorder *r, const union slot *slot, size_t n)
{
    struct archive_location *l = location_of(r);

    for (const union slot *s = slot; s < slot + n; s += record_slots(s->head.kind)) {
        if (l->writer == NULL || write_record(l, s) != OTF2_SUCCESS) {
            complain("rank %u cannot write its events; its trace ends here", own_rank);
            return false;
        }
        if (l->n_events++ == 0)
            l->first_ns = s->head.time_ns;
        l->last_ns = s->head.kind == RECORD_FLUSH ? s[1].flush.end_ns : s->head.time_ns;
    }
    return true;
}

const struct sink archive_sink = {take, .is_quick = false};

/* ------------------------------------------------------------------------------------- end */

bool archive_location(const struct recorder *r, struct location *location)
{
    const struct archive_location *l = r->location;

    if (l == NULL)
        return false;
    *location = (struct location){.thread = r->thread,
                                  .n_events = l->n_events,
                                  .first_ns = l->first_ns,
                                  .last_ns = l->last_ns,
                                  .processor_ns = budget_processor_ns(r),
                                  .cost_ns = budget_cost_ns(r),
                                  .once_ns = budget_once_ns(r),
                                  .n_polls = r->n_polls};
    return true;
}

/* How this process's numbers map to those of the archive; NULL where there are none. */
struct mappings {
    OTF2_IdMap *regions, *communicators, *objects;
};

static OTF2_IdMap *make_map(const uint32_t *to, uint32_t n)
{
    return n ? OTF2_IdMap_CreateFromUint32Array(n, to, true) : NULL;
}

static bool write_map(OTF2_DefWriter *w, OTF2_MappingType type, const OTF2_IdMap *map)
{
    return map == NULL || OTF2_DefWriter_WriteMappingTable(w, type, map) == OTF2_SUCCESS;
}

static bool write_maps(OTF2_DefWriter *w, const struct mappings *m)
{
    return write_map(w, OTF2_MAPPING_REGION, m->regions) &&
           write_map(w, OTF2_MAPPING_COMM, m->communicators) &&
           write_map(w, OTF2_MAPPING_RMA_WIN, m->objects) &&
           write_map(w, OTF2_MAPPING_GROUP, m->objects) &&
           write_map(w, OTF2_MAPPING_IO_FILE, m->objects) &&
           write_map(w, OTF2_MAPPING_IO_HANDLE, m->objects);
}

static bool write_local(const struct recorder *r, const struct mappings *mappings,
                        const struct clock_offset *offset, unsigned n_offsets)
{
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(archive, location_id(r));
    bool is_good = w != NULL && write_maps(w, mappings);

    for (unsigned i = 0; i < n_offsets && is_good; i++)
        is_good = OTF2_DefWriter_WriteClockOffset(w, offset[i].time_ns, offset[i].offset_ns,
                                                  offset[i].error_ns) == OTF2_SUCCESS;
    return is_good && OTF2_Archive_CloseDefWriter(archive, w) == OTF2_SUCCESS;
}

static bool close_writers(struct recorder *newest)
{
    bool is_good = true;

    for (struct recorder *r = newest; r; r = r->older) {
        struct archive_location *l = r->location;

        if (l && l->writer)
            is_good =
                OTF2_Archive_CloseEvtWriter(archive, l->writer) == OTF2_SUCCESS && is_good;
        if (l) {
            OTF2_AttributeList_Delete(l->attributes);
            l->attributes = NULL;
            l->writer = NULL;
        }
    }
    return OTF2_Archive_CloseEvtFiles(archive) == OTF2_SUCCESS && is_good;
}

/* Teams come last there, and have numbers of their own. */
static OTF2_IdMap *map_communicators(const struct unified_map *map)
{
    uint32_t n_of_mpi = map->n_communicators - openmp_n_teams();
    OTF2_IdMap *ids;

    if (n_of_mpi == map->n_communicators)
        return OTF2_IdMap_CreateFromUint32Array(n_of_mpi, map->communicator, true);
    ids = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, map->n_communicators);
    for (uint32_t i = 0; i < map->n_communicators; i++)
        OTF2_IdMap_AddIdPair(ids, i < n_of_mpi ? i : OPENMP_FIRST_COMM + i - n_of_mpi,
                             map->communicator[i]);
    return ids;
}

bool archive_end_events(struct recorder *newest, const struct unified_map *map,
                        const struct clock_offset *offset, unsigned n_offsets)
{
    const struct mappings mappings = {
        .regions = make_map(map->region, map->n_regions),
        .communicators = map->n_communicators ? map_communicators(map) : NULL,
        .objects = make_map(map->object, map->n_objects),
    };
    bool is_good = close_writers(newest);

    is_good = OTF2_Archive_OpenDefFiles(archive) == OTF2_SUCCESS && is_good;
    for (struct recorder *r = newest; r; r = r->older)
        if (r->location)
            is_good = write_local(r, &mappings, offset, n_offsets) && is_good;
    is_good = OTF2_Archive_CloseDefFiles(archive) == OTF2_SUCCESS && is_good;
    OTF2_IdMap_Free(mappings.regions);
    OTF2_IdMap_Free(mappings.communicators);
    OTF2_IdMap_Free(mappings.objects);
    return is_good;
}

void archive_lead(void)
{
    context.rank = 0;
}

bool archive_define(const struct unified *u, uint32_t n_ranks)
{
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(archive);

    return w && archive_definitions_write(w, u, n_ranks) &&
           OTF2_Archive_CloseGlobalDefWriter(archive, w) == OTF2_SUCCESS;
}

bool archive_close(void)
{
    OTF2_ErrorCode status = OTF2_Archive_Close(archive);

    archive = NULL;
    return status == OTF2_SUCCESS;
}
