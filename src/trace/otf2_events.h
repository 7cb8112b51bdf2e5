/*
 * otf2_events -- OTF2 event records of one location become events in a batch.
 *
 * Region and communicator ids become indices; non-blocking operations are put together from
 * their records by request id; a collective is one event, at its end.
 */
#ifndef SNAG_TRACE_OTF2_EVENTS_H
#define SNAG_TRACE_OTF2_EVENTS_H

#include "trace/otf2_definitions.h"
#include "trace/requests.h"
#include "trace/source.h"
#include "trace/ticks.h"

#define OTF2_EVENTS_MOST 1024 /* records that may be read into a batch at a time */

struct otf2_events {
    const struct otf2_tables *tables;
    const struct definitions *defs;
    uint32_t rank;               /* of the current location */
    struct idtable region, comm; /* ids local to the location; all others are global */
    struct idtable metric;       /* likewise */
    uint32_t undefined_region;   /* as in tables */
    bool wants_counters;         /* else metrics are counted as ignored */

    struct event_batch *batch; /* being filled */
    struct quality *quality;   /* what is wrong is counted here */
    struct requests requests;
    uint32_t n_messages, n_posted; /* of the current location */
    uint32_t *n_collectives;       /* [defs->n_comms], of the current location */
    uint64_t collective_begin;
    bool is_in_collective;
};

void otf2_events_init(struct otf2_events *events, const struct otf2_tables *tables,
                      const struct definitions *defs, bool wants_counters);
void otf2_events_release(struct otf2_events *events);

/* otf2_events_begin -- a new location, of this rank. */
void otf2_events_begin(struct otf2_events *events, uint32_t rank);

/*
 * otf2_events_map -- take a mapping table of the location. Regions and communicators go
 * straight from local ids to our indices, which is cheaper than letting libotf2 map them first:
 * its own mapping is to be switched off.
 */
void otf2_events_map(struct otf2_events *events, OTF2_MappingType type, const OTF2_IdMap *map);

/*
 * otf2_events_callbacks -- what to register with a local event reader, with a struct
 * otf2_events as user data. Free with OTF2_EvtReaderCallbacks_Delete.
 */
OTF2_EvtReaderCallbacks *otf2_events_callbacks(void);

/* otf2_events_convert -- ticks to nanoseconds in the batch, from these indices on. */
void otf2_events_convert(struct otf2_events *events, struct ticks *ticks, size_t event,
                         size_t message, size_t collective);

#endif
