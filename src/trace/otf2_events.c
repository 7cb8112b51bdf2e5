/*
 * The callbacks put times into the batch as ticks; otf2_events_convert turns a whole batch into
 * nanoseconds at once, which is cheaper than one by one.
 */
#include "trace/otf2_events.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static uint32_t comm_of(const struct otf2_events *r, OTF2_CommRef id)
{
    uint32_t comm = idtable_get(&r->comm, id);

    return comm == IDMAP_NONE ? idtable_get(&r->tables->comm, id) : comm;
}

/* A region that the location has not called before, or that is not a usual one. */
static __attribute__((noinline)) OTF2_CallbackCode
push_new_call(struct otf2_events *r, uint64_t time, enum event_kind kind, OTF2_RegionRef id)
{
    const struct otf2_tables *tables = r->tables;
    uint32_t region = idtable_get(&r->region, id);

    if (region == IDMAP_NONE) {
        region = idtable_get(&tables->region, id);
        if (region == IDMAP_NONE)
            region = tables->undefined_region;
        else if (id < IDTABLE_DENSE)
            idtable_set(&r->region, id, region);
    }
    if (region == tables->undefined_region)
        r->quality->n[QUALITY_undefined_region] += kind == EVENT_ENTER;
    event_batch_push(r->batch, time, kind, region);
    return OTF2_CALLBACK_SUCCESS;
}

/* Nearly all records come here: what is usual is kept free of anything else. */
static inline OTF2_CallbackCode push_call(struct otf2_events *r, uint64_t time,
                                          enum event_kind kind, OTF2_RegionRef id)
{
    uint32_t region = idtable_get_dense(&r->region, id);

    if (__builtin_expect(region >= r->undefined_region, 0)) /* or not known at all */
        return push_new_call(r, time, kind, id);
    event_batch_push(r->batch, time, kind, region);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time,
                                  uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                  OTF2_RegionRef region)
{
    (void)location, (void)position, (void)attributes;
    return push_call(arg, time, EVENT_ENTER, region);
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time,
                                  uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                  OTF2_RegionRef region)
{
    (void)location, (void)position, (void)attributes;
    return push_call(arg, time, EVENT_LEAVE, region);
}

/* The parts of a message that all four kinds of records have in common. */
static void push_message(struct otf2_events *r, uint64_t time, enum message_kind kind,
                         uint32_t peer, uint32_t comm_id, uint32_t tag, uint64_t bytes,
                         const struct request *posted)
{
    uint32_t comm = comm_of(r, comm_id);
    struct message *message;
    uint32_t peer_rank;

    if (comm == IDMAP_NONE) {
        r->quality->n[QUALITY_undefined_comm]++;
        return;
    }
    peer_rank = definitions_peer(r->defs, comm, r->rank, peer);
    if (peer_rank == NO_RANK) {
        r->quality->n[QUALITY_bad_value]++;
        return;
    }
    message = event_batch_message(r->batch, time);
    *message = (struct message){
        .begin_ns = posted ? posted->time_ns : time,
        .bytes = bytes,
        .match = MESSAGE_UNMATCHED,
        .peer = peer_rank,
        .comm = comm,
        .tag = tag,
        .order = posted ? posted->ref : r->n_posted++,
        .kind = (uint32_t)kind,
    };
    r->n_messages++;
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time,
                                 uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                 uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    (void)location, (void)position, (void)attributes;
    push_message(arg, time, MESSAGE_SEND, receiver, comm, tag, bytes, NULL);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_recv(OTF2_LocationRef location, OTF2_TimeStamp time,
                                 uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                 uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                 uint64_t bytes)
{
    (void)location, (void)position, (void)attributes;
    push_message(arg, time, MESSAGE_RECV, sender, comm, tag, bytes, NULL);
    return OTF2_CALLBACK_SUCCESS;
}

static void post(struct otf2_events *r, uint64_t id, uint64_t time, uint32_t ref)
{
    r->quality->n[QUALITY_unfinished_request] += requests_post(&r->requests, id, time, ref);
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location, OTF2_TimeStamp time,
                                  uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                  uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    struct otf2_events *r = arg;
    uint32_t n_before = r->n_messages;

    (void)location, (void)position, (void)attributes;
    push_message(r, time, MESSAGE_SEND, receiver, comm, tag, bytes, NULL);
    if (r->n_messages > n_before)
        post(r, request, time, n_before);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_isend_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                           uint64_t position, void *arg,
                                           OTF2_AttributeList *attributes, uint64_t request)
{
    struct otf2_events *r = arg;
    struct request posted;

    (void)location, (void)position, (void)attributes;
    if (requests_take(&r->requests, request, &posted))
        event_batch_push(r->batch, time, EVENT_SENT, posted.ref);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time,
                                          uint64_t position, void *arg,
                                          OTF2_AttributeList *attributes, uint64_t request)
{
    struct otf2_events *r = arg;

    (void)location, (void)position, (void)attributes;
    post(r, request, time, r->n_posted++);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_irecv(OTF2_LocationRef location, OTF2_TimeStamp time,
                                  uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                  uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                                  uint64_t bytes, uint64_t request)
{
    struct otf2_events *r = arg;
    struct request posted;
    bool is_known = requests_take(&r->requests, request, &posted);

    (void)location, (void)position, (void)attributes;
    push_message(r, time, MESSAGE_RECV, sender, comm, tag, bytes, is_known ? &posted : NULL);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_cancelled(OTF2_LocationRef location, OTF2_TimeStamp time,
                                      uint64_t position, void *arg,
                                      OTF2_AttributeList *attributes, uint64_t request)
{
    struct otf2_events *r = arg;
    struct request posted;

    (void)location, (void)time, (void)position, (void)attributes;
    requests_take(&r->requests, request, &posted);
    return OTF2_CALLBACK_SUCCESS;
}

static enum collective_kind kind_of(OTF2_CollectiveOp op)
{
    switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return COLLECTIVE_BARRIER;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return COLLECTIVE_ALL_TO_ALL;
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return COLLECTIVE_ONE_TO_ALL;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
    case OTF2_COLLECTIVE_OP_REDUCE:
        return COLLECTIVE_ALL_TO_ONE;
    default:
        return COLLECTIVE_OTHER;
    }
}

static void push_collective(struct otf2_events *r, uint64_t begin, uint64_t time,
                            OTF2_CollectiveOp op, uint32_t comm_id, uint32_t root,
                            uint64_t sent_bytes, uint64_t received_bytes)
{
    uint32_t comm = comm_of(r, comm_id);
    enum collective_kind kind = kind_of(op);
    uint32_t root_rank = NO_ROOT;

    if (comm == IDMAP_NONE) {
        r->quality->n[QUALITY_undefined_comm]++;
        return;
    }
    if (kind == COLLECTIVE_ONE_TO_ALL || kind == COLLECTIVE_ALL_TO_ONE) {
        root_rank = definitions_peer(r->defs, comm, r->rank, root);
        if (root_rank == NO_RANK)
            kind = COLLECTIVE_OTHER; /* MPI_ROOT, MPI_PROC_NULL, or nonsense */
    }
    if (kind != COLLECTIVE_BARRIER && sent_bytes == 0 && received_bytes == 0)
        kind = COLLECTIVE_OTHER; /* nothing to wait for: MPI may return at once */
    *event_batch_collective(r->batch, time) = (struct collective){
        .begin_ns = begin,
        .sent_bytes = sent_bytes,
        .received_bytes = received_bytes,
        .comm = comm,
        .kind = (uint32_t)kind,
        .root = root_rank,
        .order = r->n_collectives[comm]++,
        .instance = NO_INSTANCE,
    };
}

static OTF2_CallbackCode on_collective_begin(OTF2_LocationRef location, OTF2_TimeStamp time,
                                             uint64_t position, void *arg,
                                             OTF2_AttributeList *attributes)
{
    struct otf2_events *r = arg;

    (void)location, (void)position, (void)attributes;
    r->collective_begin = time;
    r->is_in_collective = true;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_collective_end(OTF2_LocationRef location, OTF2_TimeStamp time,
                                           uint64_t position, void *arg,
                                           OTF2_AttributeList *attributes, OTF2_CollectiveOp op,
                                           OTF2_CommRef comm, uint32_t root,
                                           uint64_t sent_bytes, uint64_t received_bytes)
{
    struct otf2_events *r = arg;

    (void)location, (void)position, (void)attributes;
    push_collective(r, r->is_in_collective ? r->collective_begin : time, time, op, comm, root,
                    sent_bytes, received_bytes);
    r->is_in_collective = false;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icollective_request(OTF2_LocationRef location, OTF2_TimeStamp time,
                                                uint64_t position, void *arg,
                                                OTF2_AttributeList *attributes,
                                                uint64_t request)
{
    (void)location, (void)position, (void)attributes;
    post(arg, request, time, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_icollective_complete(OTF2_LocationRef location, OTF2_TimeStamp time,
                                                 uint64_t position, void *arg,
                                                 OTF2_AttributeList *attributes,
                                                 OTF2_CollectiveOp op, OTF2_CommRef comm,
                                                 uint32_t root, uint64_t sent_bytes,
                                                 uint64_t received_bytes, uint64_t request)
{
    struct otf2_events *r = arg;
    struct request posted;
    bool is_known = requests_take(&r->requests, request, &posted);

    (void)location, (void)position, (void)attributes;
    push_collective(r, is_known ? posted.time_ns : time, time, op, comm, root, sent_bytes,
                    received_bytes);
    return OTF2_CALLBACK_SUCCESS;
}

static const struct otf2_metric *metric_of(const struct otf2_events *r, OTF2_MetricRef id)
{
    uint32_t at = idtable_get(&r->metric, id);

    if (at == IDMAP_NONE)
        at = idtable_get(&r->tables->metric_id, id);
    return at == IDMAP_NONE ? NULL : &r->tables->metric[at];
}

static struct counter_value value_of(const struct otf2_member *member, OTF2_Type type,
                                     const OTF2_MetricValue *value)
{
    struct counter_value v = {.counter = member->counter};
    bool is_huge = type == OTF2_TYPE_UINT64 && value->unsigned_int > INT64_MAX;

    v.is_real = type == OTF2_TYPE_DOUBLE || is_huge || member->is_scaled;
    if (!v.is_real)
        v.whole = value->signed_int;
    else if (type == OTF2_TYPE_DOUBLE)
        v.real = value->floating_point * member->scale;
    else if (type == OTF2_TYPE_UINT64)
        v.real = (double)value->unsigned_int * member->scale;
    else
        v.real = (double)value->signed_int * member->scale;
    return v;
}

static OTF2_CallbackCode on_metric(OTF2_LocationRef location, OTF2_TimeStamp time,
                                   uint64_t position, void *arg, OTF2_AttributeList *attributes,
                                   OTF2_MetricRef metric, uint8_t n_values,
                                   const OTF2_Type *types, const OTF2_MetricValue *values)
{
    struct otf2_events *r = arg;
    const struct otf2_metric *m = r->wants_counters ? metric_of(r, metric) : NULL;

    (void)location, (void)position, (void)attributes;
    if (m == NULL || n_values > m->n) {
        r->quality->n[QUALITY_ignored_event]++;
        return OTF2_CALLBACK_SUCCESS;
    }
    /* one record, several events: those behind it must still have room */
    mem_grow(&r->batch->event, &r->batch->event_cap, r->batch->n + n_values + OTF2_EVENTS_MOST,
             sizeof *r->batch->event);
    for (uint8_t i = 0; i < n_values; i++)
        *event_batch_counter(r->batch, time) = value_of(&m->member[i], types[i], &values[i]);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unknown(OTF2_LocationRef location, OTF2_TimeStamp time,
                                    uint64_t position, void *arg,
                                    OTF2_AttributeList *attributes)
{
    struct otf2_events *r = arg;

    (void)location, (void)time, (void)position, (void)attributes;
    r->quality->n[QUALITY_bad_record]++;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks *otf2_events_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_icollective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c,
                                                                     on_icollective_complete);
    OTF2_EvtReaderCallbacks_SetMetricCallback(c, on_metric);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_unknown);
    return c;
}

void otf2_events_init(struct otf2_events *r, const struct otf2_tables *tables,
                      const struct definitions *defs, bool wants_counters)
{
    *r = (struct otf2_events){.tables = tables,
                              .defs = defs,
                              .undefined_region = tables->undefined_region,
                              .wants_counters = wants_counters};
    r->n_collectives = mem_alloc(defs->n_comms, sizeof *r->n_collectives);
}

void otf2_events_release(struct otf2_events *r)
{
    requests_release(&r->requests);
    idtable_release(&r->region);
    idtable_release(&r->comm);
    idtable_release(&r->metric);
    free(r->n_collectives);
    *r = (struct otf2_events){0};
}

void otf2_events_begin(struct otf2_events *r, uint32_t rank)
{
    r->rank = rank;
    r->n_messages = r->n_posted = 0;
    r->is_in_collective = false;
    memset(r->n_collectives, 0, r->defs->n_comms * sizeof *r->n_collectives);
    requests_clear(&r->requests);
    idtable_clear(&r->region);
    idtable_clear(&r->comm);
    idtable_clear(&r->metric);
}

static void map_region(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;
    uint32_t region =
        global <= UINT32_MAX ? idtable_get(&r->tables->region, (uint32_t)global) : IDMAP_NONE;

    if (local < OTF2_UNDEFINED_REGION)
        idtable_set(&r->region, (uint32_t)local,
                    region == IDMAP_NONE ? r->tables->undefined_region : region);
}

static void map_comm(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;

    if (local < OTF2_UNDEFINED_COMM && global < OTF2_UNDEFINED_COMM)
        idtable_set(&r->comm, (uint32_t)local, idtable_get(&r->tables->comm, (uint32_t)global));
}

static void map_metric(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;

    if (local < OTF2_UNDEFINED_METRIC && global < OTF2_UNDEFINED_METRIC)
        idtable_set(&r->metric, (uint32_t)local,
                    idtable_get(&r->tables->metric_id, (uint32_t)global));
}

void otf2_events_map(struct otf2_events *r, OTF2_MappingType type, const OTF2_IdMap *map)
{
    if (type == OTF2_MAPPING_REGION)
        OTF2_IdMap_Traverse(map, map_region, r);
    else if (type == OTF2_MAPPING_COMM)
        OTF2_IdMap_Traverse(map, map_comm, r);
    else if (type == OTF2_MAPPING_METRIC)
        OTF2_IdMap_Traverse(map, map_metric, r);
}

void otf2_events_convert(struct otf2_events *r, struct ticks *ticks, size_t event,
                         size_t message, size_t collective)
{
    struct event_batch *batch = r->batch;

    if (ticks->n_offsets == 0 && ticks->whole == 1 && ticks->fraction == 0) {
        for (size_t i = event; i < batch->n; i++)
            batch->event[i].time_ns -= ticks->origin;
    } else {
        ticks_convert(ticks, batch->event + event, batch->n - event);
    }
    for (size_t i = message; i < batch->n_messages; i++)
        batch->message[i].begin_ns = ticks_to_ns(ticks, batch->message[i].begin_ns);
    for (size_t i = collective; i < batch->n_collectives; i++)
        batch->collective[i].begin_ns = ticks_to_ns(ticks, batch->collective[i].begin_ns);
}
