/*
 * otf2_floor ARCHIVE -- reads every event of an OTF2 archive and does nothing with it.
 *
 * The least that any program must spend that reads with libotf2: one thread, one local event
 * reader after the other, empty callbacks, no local definitions (so that nothing is mapped or
 * corrected). Linked with the shared library as distributed. Prints
 *
 *     records 2723156 wall_s 0.0642 cpu_s 0.0633 peak_bytes 6373376
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <otf2/otf2.h>

struct locations {
    uint64_t *id;
    size_t n, cap;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void *must(void *made, const char *what)
{
    if (made == NULL) {
        fprintf(stderr, "otf2_floor: no %s\n", what);
        exit(1);
    }
    return made;
}

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef id, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t n_events,
                                     OTF2_LocationGroupRef group)
{
    struct locations *l = arg;

    (void)name, (void)type, (void)n_events, (void)group;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->id = must(realloc(l->id, l->cap * sizeof *l->id), "memory");
    }
    l->id[l->n++] = id;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(OTF2_LocationRef location, OTF2_TimeStamp time,
                                   uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                   OTF2_RegionRef region)
{
    (void)location, (void)time, (void)position, (void)arg, (void)attributes, (void)region;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_message(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *arg,
                                    OTF2_AttributeList *attributes, uint32_t peer,
                                    OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    (void)location, (void)time, (void)position, (void)arg, (void)attributes;
    (void)peer, (void)comm, (void)tag, (void)bytes;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_imessage(OTF2_LocationRef location, OTF2_TimeStamp time,
                                     uint64_t position, void *arg,
                                     OTF2_AttributeList *attributes, uint32_t peer,
                                     OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                                     uint64_t request)
{
    (void)location, (void)time, (void)position, (void)arg, (void)attributes;
    (void)peer, (void)comm, (void)tag, (void)bytes, (void)request;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_request(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *arg,
                                    OTF2_AttributeList *attributes, uint64_t request)
{
    (void)location, (void)time, (void)position, (void)arg, (void)attributes, (void)request;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_collective(OTF2_LocationRef location, OTF2_TimeStamp time,
                                       uint64_t position, void *arg,
                                       OTF2_AttributeList *attributes, OTF2_CollectiveOp op,
                                       OTF2_CommRef comm, uint32_t root, uint64_t sent_bytes,
                                       uint64_t received_bytes)
{
    (void)location, (void)time, (void)position, (void)arg, (void)attributes;
    (void)op, (void)comm, (void)root, (void)sent_bytes, (void)received_bytes;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_EvtReaderCallbacks *empty_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = must(OTF2_EvtReaderCallbacks_New(), "callbacks");

    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_region);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_region);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_message);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_message);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_imessage);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_imessage);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_request);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective);
    return c;
}

static void read_locations(OTF2_Reader *reader, struct locations *l)
{
    OTF2_GlobalDefReader *defs = must(OTF2_Reader_GetGlobalDefReader(reader), "definitions");
    OTF2_GlobalDefReaderCallbacks *c = must(OTF2_GlobalDefReaderCallbacks_New(), "callbacks");
    uint64_t n;

    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, c, l);
    OTF2_Reader_ReadAllGlobalDefinitions(reader, defs, &n);
    OTF2_GlobalDefReaderCallbacks_Delete(c);
    OTF2_Reader_CloseGlobalDefReader(reader, defs);
}

static uint64_t read_events(OTF2_Reader *reader, const struct locations *l)
{
    OTF2_EvtReaderCallbacks *c = empty_callbacks();
    uint64_t sum = 0;

    for (size_t i = 0; i < l->n; i++)
        OTF2_Reader_SelectLocation(reader, l->id[i]);
    OTF2_Reader_OpenEvtFiles(reader);
    for (size_t i = 0; i < l->n; i++) {
        OTF2_EvtReader *events = must(OTF2_Reader_GetEvtReader(reader, l->id[i]), "events");
        uint64_t n = 0;

        OTF2_Reader_RegisterEvtCallbacks(reader, events, c, NULL);
        OTF2_Reader_ReadAllLocalEvents(reader, events, &n);
        OTF2_Reader_CloseEvtReader(reader, events);
        sum += n;
    }
    OTF2_EvtReaderCallbacks_Delete(c);
    return sum;
}

int main(int argc, char **argv)
{
    double begin_s = now_s();
    struct locations locations = {0};
    struct rusage usage;
    OTF2_Reader *reader;
    uint64_t n;

    if (argc != 2) {
        fputs("usage: otf2_floor ARCHIVE.otf2\n", stderr);
        return 2;
    }
    reader = must(OTF2_Reader_Open(argv[1]), "archive");
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    read_locations(reader, &locations);
    n = read_events(reader, &locations);
    OTF2_Reader_Close(reader);
    free(locations.id);
    getrusage(RUSAGE_SELF, &usage);
    printf("records %" PRIu64 " wall_s %.6f cpu_s %.6f peak_bytes %ld\n", n, now_s() - begin_s,
           seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss * 1024);
    return 0;
}
