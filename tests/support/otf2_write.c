/* Local definition files are written for every location, as libotf2 wants them by default. */
#include "otf2_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        OTF2_ErrorCode status_ = (call);                                                       \
        if (status_ != OTF2_SUCCESS) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                                 \
                    OTF2_Error_GetDescription(status_));                                       \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

#define CHUNK (1024 * 1024)

static OTF2_FlushType pre_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location,
                                void *caller, bool is_final)
{
    (void)arg, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp post_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)arg, (void)type, (void)location;
    return 0;
}

void otf2_write_open(struct otf2_write *w, const char *dir, uint64_t ticks_per_s)
{
    otf2_write_open_chunks(w, dir, ticks_per_s, CHUNK);
}

void otf2_write_open_chunks(struct otf2_write *w, const char *dir, uint64_t ticks_per_s,
                            uint64_t chunk_bytes)
{
    static const OTF2_FlushCallbacks flush = {pre_flush, post_flush};

    *w = (struct otf2_write){.ticks_per_s = ticks_per_s};
    w->archive = OTF2_Archive_Open(dir, "traces", OTF2_FILEMODE_WRITE, chunk_bytes, 4 * CHUNK,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (w->archive == NULL)
        abort();
    CHECK(OTF2_Archive_SetFlushCallbacks(w->archive, &flush, NULL));
    CHECK(OTF2_Archive_SetSerialCollectiveCallbacks(w->archive));
    CHECK(OTF2_Archive_OpenEvtFiles(w->archive));
    w->defs = OTF2_Archive_GetGlobalDefWriter(w->archive);
    if (w->defs == NULL)
        abort();
    otf2_write_string(w, "");
}

uint32_t otf2_write_string(struct otf2_write *w, const char *text)
{
    CHECK(OTF2_GlobalDefWriter_WriteString(w->defs, w->n_strings, text));
    return w->n_strings++;
}

static OTF2_EvtWriter *add_location(struct otf2_write *w, uint64_t id, uint32_t rank,
                                    bool is_thread)
{
    OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(w->archive, id);

    if (events == NULL || w->n_locations == OTF2_WRITE_LOCATIONS)
        abort();
    w->location[w->n_locations].id = id;
    w->location[w->n_locations].rank = rank;
    w->location[w->n_locations].is_thread = is_thread;
    w->location[w->n_locations].n_events_said = UINT64_MAX;
    w->location[w->n_locations++].events = events;
    return events;
}

OTF2_EvtWriter *otf2_write_location(struct otf2_write *w, uint64_t id)
{
    return add_location(w, id, w->n_ranks++, false);
}

OTF2_EvtWriter *otf2_write_thread(struct otf2_write *w, uint64_t id, uint32_t rank)
{
    return add_location(w, id, rank, true);
}

void otf2_write_region(struct otf2_write *w, uint32_t id, const char *name)
{
    uint32_t string = otf2_write_string(w, name);
    uint32_t file = w->source ? otf2_write_string(w, w->source) : 0;
    bool is_mpi = strncmp(name, "MPI_", 4) == 0;

    CHECK(OTF2_GlobalDefWriter_WriteRegion(
        w->defs, id, string, string, 0, OTF2_REGION_ROLE_FUNCTION,
        is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, file,
        w->source ? 10 * (id + 1) : 0, 0));
}

void otf2_write_map(struct otf2_write *w, uint64_t location, const uint64_t *global, uint32_t n)
{
    OTF2_DefWriter *defs = OTF2_Archive_GetDefWriter(w->archive, location);
    OTF2_IdMap *map = OTF2_IdMap_CreateFromUint64Array(n, global, false);

    CHECK(OTF2_DefWriter_WriteMappingTable(defs, OTF2_MAPPING_REGION, map));
    OTF2_IdMap_Free(map);
}

void otf2_write_clock_offset(struct otf2_write *w, uint64_t location, uint64_t time,
                             int64_t offset)
{
    CHECK(OTF2_DefWriter_WriteClockOffset(OTF2_Archive_GetDefWriter(w->archive, location), time,
                                          offset, 0));
}

static void write_locations(struct otf2_write *w)
{
    uint32_t name = otf2_write_string(w, "Master thread");
    uint32_t thread = otf2_write_string(w, "Worker thread");

    CHECK(OTF2_GlobalDefWriter_WriteSystemTreeNode(w->defs, 1, otf2_write_string(w, "n042"),
                                                   otf2_write_string(w, "node"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    CHECK(OTF2_GlobalDefWriter_WriteSystemTreeNode(w->defs, 0, otf2_write_string(w, "0"),
                                                   otf2_write_string(w, "socket"), 1));
    for (uint32_t i = 0; i < w->n_locations; i++) {
        uint64_t n = w->location[i].n_events_said;

        if (!w->location[i].is_thread)
            CHECK(OTF2_GlobalDefWriter_WriteLocationGroup(w->defs, w->location[i].rank, name,
                                                          OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                          OTF2_UNDEFINED_LOCATION_GROUP));
        if (n == UINT64_MAX)
            CHECK(OTF2_EvtWriter_GetNumberOfEvents(w->location[i].events, &n));
        CHECK(OTF2_GlobalDefWriter_WriteLocation(
            w->defs, w->location[i].id, w->location[i].is_thread ? thread : name,
            w->location[i].is_stream ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM
                                     : OTF2_LOCATION_TYPE_CPU_THREAD,
            n, w->location[i].rank));
    }
}

static void write_mpi(struct otf2_write *w)
{
    uint64_t id[OTF2_WRITE_LOCATIONS], rank[OTF2_WRITE_LOCATIONS];
    uint32_t world = otf2_write_string(w, "MPI_COMM_WORLD");

    for (uint32_t i = 0; i < w->n_locations; i++) {
        if (w->location[i].is_thread)
            continue;
        id[w->location[i].rank] = w->location[i].id;
        rank[w->location[i].rank] = w->location[i].rank;
    }
    CHECK(OTF2_GlobalDefWriter_WriteGroup(w->defs, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, w->n_ranks,
                                          id));
    CHECK(OTF2_GlobalDefWriter_WriteGroup(w->defs, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP,
                                          OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, w->n_ranks,
                                          rank));
    CHECK(OTF2_GlobalDefWriter_WriteComm(w->defs, 0, world, 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
}

void otf2_write_close(struct otf2_write *w)
{
    CHECK(OTF2_GlobalDefWriter_WriteClockProperties(w->defs, w->ticks_per_s, w->origin,
                                                    w->length, OTF2_UNDEFINED_TIMESTAMP));
    write_locations(w);
    if (w->has_mpi)
        write_mpi(w);
    for (uint32_t i = 0; i < w->n_locations; i++)
        CHECK(OTF2_Archive_CloseEvtWriter(w->archive, w->location[i].events));
    CHECK(OTF2_Archive_CloseEvtFiles(w->archive));
    CHECK(OTF2_Archive_OpenDefFiles(w->archive));
    for (uint32_t i = 0; i < w->n_locations; i++)
        CHECK(OTF2_Archive_CloseDefWriter(
            w->archive, OTF2_Archive_GetDefWriter(w->archive, w->location[i].id)));
    CHECK(OTF2_Archive_CloseDefFiles(w->archive));
    CHECK(OTF2_Archive_CloseGlobalDefWriter(w->archive, w->defs));
    CHECK(OTF2_Archive_Close(w->archive));
}
