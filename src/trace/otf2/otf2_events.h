/*
 * otf2_events -- OTF2 event records of one location become events in a batch.
 *
 * Region and communicator ids become indices; non-blocking operations are put together from
 * their records by request id; a collective is one event, at its end; that the tracer wrote its
 * buffer is one record and becomes a call.
 */
#ifndef SNAG_TRACE_OTF2_EVENTS_H
#define SNAG_TRACE_OTF2_EVENTS_H

#include "trace/otf2/otf2_definitions.h"
#include "trace/requests.h"
#include "trace/source.h"

#define OTF2_MAX_ATTRIBUTES 32 /* of one record, that are kept */

struct otf2_events {
    const struct otf2_tables *tables;
    const struct definitions *defs;
    uint32_t rank;             /* of the current location */
    struct otf2_ids id;        /* those that are its own; all others are in tables */
    uint32_t undefined_region; /* as in tables */
    bool wants_counters;       /* else metrics are counted as ignored */
    bool wants_arguments;      /* else parameters and attributes are nothing */

    struct event_batch *batch; /* being filled */
    size_t most;               /* records that may still come into it */
    struct quality *quality;   /* what is wrong is counted here */
    struct requests requests;
    uint32_t n_messages, n_posted;           /* of the current location */
    uint32_t *n_collectives;                 /* [defs->n_comms], of the current location */
    uint64_t collective_begin, blocking_end; /* of this collective; of the one before */
    bool is_in_collective;
    size_t begin;        /* of the batch: events before are not ours to touch any more */
    uint64_t last_ticks; /* time of the event before that one */
    bool is_annotated;   /* attributes say something of the record that comes next: */
    bool has_border;     /* it may be off by: */
    uint64_t off_ns;
    enum estimate_side side;
    uint32_t n_attributes; /* arguments of its call */
    struct argument_value said[OTF2_MAX_ATTRIBUTES];
    bool is_flushing;   /* the tracer's call is not left yet; then: */
    uint64_t flush_end; /* in ticks, when it is to be */
    size_t flush_next;  /* in the batch, what comes after it */
    bool is_gpu;        /* the current location is a stream of one */
    bool is_copying;    /* it has begun to copy; then: */
    uint64_t copy_begin, copy_id;
    uint32_t copy_region;
    size_t copy_at; /* events that were in the batch */
};

void otf2_events_init(struct otf2_events *events, const struct otf2_tables *tables,
                      const struct definitions *defs, const struct source_opts *opts);
void otf2_events_release(struct otf2_events *events);

/* otf2_events_begin -- a new location. */
void otf2_events_begin(struct otf2_events *events, const struct location *location);

/* otf2_events_into -- what comes next goes into this batch: at most so many records. */
void otf2_events_into(struct otf2_events *events, struct event_batch *batch, size_t most,
                      struct quality *quality);

/*
 * otf2_events_map -- take a mapping table of the location. Regions and communicators go
 * straight from local ids to our indices, which is cheaper than letting libotf2 map them first:
 * its own mapping is to be switched off.
 */
void otf2_events_map(struct otf2_events *events, OTF2_MappingType type, const OTF2_IdMap *map);

/* The parts of a message and of a collective that all kinds of their records have. */
struct otf2_message {
    uint32_t peer, comm, tag;
    uint64_t bytes;
};

struct otf2_collective {
    OTF2_CollectiveOp op;
    uint32_t comm, root;
    uint64_t sent_bytes, received_bytes;
};

/* Of a fork the threads that were asked for, of what is created its number. */
struct otf2_team {
    enum team_record_kind kind;
    uint32_t comm; /* OTF2_UNDEFINED_COMM: it has none */
    uint64_t number;
};

/*
 * otf2_events_KIND -- a record of that kind, at this time in ticks. Records of kinds that are
 * not here say nothing about calls, messages or counters.
 */
void otf2_events_send(struct otf2_events *events, uint64_t time, const struct otf2_message *m);
void otf2_events_recv(struct otf2_events *events, uint64_t time, const struct otf2_message *m);
void otf2_events_isend(struct otf2_events *events, uint64_t time, const struct otf2_message *m,
                       uint64_t request);
void otf2_events_isend_complete(struct otf2_events *events, uint64_t time, uint64_t request);
void otf2_events_irecv_request(struct otf2_events *events, uint64_t time, uint64_t request);
void otf2_events_irecv(struct otf2_events *events, uint64_t time, const struct otf2_message *m,
                       uint64_t request);
void otf2_events_cancelled(struct otf2_events *events, uint64_t request);
void otf2_events_collective_begin(struct otf2_events *events, uint64_t time);
void otf2_events_collective_end(struct otf2_events *events, uint64_t time,
                                const struct otf2_collective *c);
void otf2_events_icollective_request(struct otf2_events *events, uint64_t time,
                                     uint64_t request);
void otf2_events_icollective_complete(struct otf2_events *events, uint64_t time,
                                      const struct otf2_collective *c, uint64_t request);
void otf2_events_metric(struct otf2_events *events, uint64_t time, OTF2_MetricRef metric,
                        uint8_t n, const OTF2_Type *types, const OTF2_MetricValue *values);
void otf2_events_team(struct otf2_events *events, uint64_t time, const struct otf2_team *t);

/*
 * otf2_events_copy, otf2_events_copied -- RMA_PUT or RMA_GET with its number, and that it is complete. On a
 * stream of a GPU, between whose other operations it lies, that is a call, elsewhere nothing.
 */
void otf2_events_copy(struct otf2_events *events, uint64_t time, bool is_put, uint64_t id);
void otf2_events_copied(struct otf2_events *events, uint64_t time, uint64_t id);

/* otf2_events_transfer, otf2_events_operation -- data of a window, or of a file, has moved. */
void otf2_events_transfer(struct otf2_events *events, uint64_t bytes);
void otf2_events_operation(struct otf2_events *events, uint64_t bytes);

/*
 * otf2_events_parameter -- the innermost call was called with this.
 *   type  OTF2_TYPE_UINT64, OTF2_TYPE_INT64, or OTF2_TYPE_STRING: the id of one
 */
void otf2_events_parameter(struct otf2_events *events, uint64_t time, uint32_t parameter,
                           OTF2_Type type, uint64_t value);

/*
 * otf2_events_attribute -- something is said of the event that follows: if it is an enter or a
 * leave, it is to be told by otf2_events_annotated. otf2_events_border -- it may have been so
 * many ns earlier, or later.
 */
void otf2_events_attribute(struct otf2_events *events, uint32_t attribute, OTF2_Type type,
                           OTF2_AttributeValue value);
void otf2_events_border(struct otf2_events *events, uint64_t earlier_ns, uint64_t later_ns);

void otf2_events_flush(struct otf2_events *events, uint64_t time, uint64_t stop);

/* otf2_events_new_call -- of a region that the location has not called before, or that is not a
 * common one. */
void otf2_events_new_call(struct otf2_events *events, uint64_t time, enum event_kind kind,
                          OTF2_RegionRef id);

/* otf2_events_call -- enter or leave. Nearly all records come here: what is common is kept free
 * of anything else. */
static inline void otf2_events_call(struct otf2_events *r, uint64_t time, enum event_kind kind,
                                    OTF2_RegionRef id)
{
    uint32_t region = idtable_get_dense(&r->id.region, id);

    if (__builtin_expect(region >= r->undefined_region, 0)) /* or not known at all */
        otf2_events_new_call(r, time, kind, id);
    else
        event_batch_push(r->batch, time, kind, region);
}

/* otf2_events_annotated -- enter or leave, as otf2_events_call, when something was said of it.
 * otf2_events_no_call -- it was of another event. */
void otf2_events_no_call(struct otf2_events *events);
void otf2_events_annotated(struct otf2_events *events, uint64_t time, enum event_kind kind,
                           OTF2_RegionRef id);

/*
 * otf2_events_convert -- all records for this batch are there: ticks to nanoseconds, from these
 * indices on.
 *   is_at_end  no other records follow on this location
 */
void otf2_events_convert(struct otf2_events *events, struct ticks *ticks, size_t event,
                         size_t message, size_t collective, bool is_at_end);

#endif
