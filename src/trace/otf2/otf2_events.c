/* Most of this is called once per message or collective; calls themselves are in the header. */
#include "trace/otf2/otf2_events.h"

#include "trace/error_bounds.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void make_room(struct otf2_events *r, size_t n)
{
    mem_grow(&r->batch->event, &r->batch->event_cap, r->batch->n + n);
}

/* By the ids of the location, or else of all. */
static uint32_t find(const struct idtable *own, const struct idtable *global, uint32_t id)
{
    uint32_t found = idtable_get(own, id);

    return found == IDMAP_NONE ? idtable_get(global, id) : found;
}

static uint32_t comm_of(const struct otf2_events *r, OTF2_CommRef id)
{
    return find(&r->id.comm, &r->tables->id.comm, id);
}

void otf2_events_new_call(struct otf2_events *r, uint64_t time, enum event_kind kind,
                          OTF2_RegionRef id)
{
    const struct otf2_tables *tables = r->tables;
    uint32_t region = idtable_get(&r->id.region, id);

    if (region == IDMAP_NONE) {
        region = idtable_get(&tables->id.region, id);
        if (region == IDMAP_NONE)
            region = tables->undefined_region;
        else if (id < IDTABLE_DENSE)
            idtable_set(&r->id.region, id, region);
    }
    if (region == OTF2_LEFT_OUT) {
        r->quality->n[QUALITY_left_out] += kind == EVENT_ENTER;
        return;
    }
    if (region == tables->undefined_region)
        r->quality->n[QUALITY_undefined_region] += kind == EVENT_ENTER;
    event_batch_push(r->batch, time, kind, region);
}

/* --------------------------------------------------------------------------- messages */

/* The parts of a message that all four kinds of records have in common. */
static void push_message(struct otf2_events *r, uint64_t time, enum message_kind kind,
                         const struct otf2_message *m, const struct posted_request *posted)
{
    uint32_t comm = comm_of(r, m->comm);
    struct message *message;
    uint32_t peer_rank;

    if (comm == IDMAP_NONE) {
        r->quality->n[QUALITY_undefined_comm]++;
        return;
    }
    peer_rank = definitions_peer(r->defs, comm, r->rank, m->peer);
    if (peer_rank == NO_RANK) {
        r->quality->n[QUALITY_bad_value]++;
        return;
    }
    message = event_batch_message(r->batch, time);
    *message = (struct message){
        .begin_ns = posted ? posted->time_ns : time,
        .bytes = m->bytes,
        .match = MESSAGE_UNMATCHED,
        .peer = peer_rank,
        .comm = comm,
        .tag = m->tag,
        .order = posted ? posted->ref : r->n_posted++,
        .kind = (uint32_t)kind,
    };
    r->n_messages++;
}

static void post(struct otf2_events *r, uint64_t id, uint64_t time, uint32_t ref)
{
    r->quality->n[QUALITY_unfinished_request] += requests_post(&r->requests, id, time, ref);
}

void otf2_events_send(struct otf2_events *r, uint64_t time, const struct otf2_message *m)
{
    push_message(r, time, MESSAGE_SEND, m, NULL);
}

void otf2_events_recv(struct otf2_events *r, uint64_t time, const struct otf2_message *m)
{
    push_message(r, time, MESSAGE_RECV, m, NULL);
}

void otf2_events_isend(struct otf2_events *r, uint64_t time, const struct otf2_message *m,
                       uint64_t request)
{
    uint32_t n_before = r->n_messages;

    push_message(r, time, MESSAGE_SEND, m, NULL);
    if (r->n_messages > n_before)
        post(r, request, time, n_before);
}

void otf2_events_isend_complete(struct otf2_events *r, uint64_t time, uint64_t request)
{
    struct posted_request posted;

    if (requests_take(&r->requests, request, &posted))
        event_batch_push(r->batch, time, EVENT_SENT, posted.ref);
}

void otf2_events_irecv_request(struct otf2_events *r, uint64_t time, uint64_t request)
{
    post(r, request, time, r->n_posted++);
}

void otf2_events_irecv(struct otf2_events *r, uint64_t time, const struct otf2_message *m,
                       uint64_t request)
{
    struct posted_request posted;
    bool is_known = requests_take(&r->requests, request, &posted);

    push_message(r, time, MESSAGE_RECV, m, is_known ? &posted : NULL);
}

void otf2_events_cancelled(struct otf2_events *r, uint64_t request)
{
    struct posted_request posted;

    requests_take(&r->requests, request, &posted);
}

/* ------------------------------------------------------------------------- collectives */

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
                            const struct otf2_collective *c)
{
    uint32_t comm = comm_of(r, c->comm);
    enum collective_kind kind = kind_of(c->op);
    uint32_t root_rank = NO_ROOT;

    if (comm == IDMAP_NONE) {
        r->quality->n[QUALITY_undefined_comm]++;
        return;
    }
    if (kind == COLLECTIVE_ONE_TO_ALL || kind == COLLECTIVE_ALL_TO_ONE) {
        root_rank = definitions_peer(r->defs, comm, r->rank, c->root);
        if (root_rank == NO_RANK)
            kind = COLLECTIVE_OTHER; /* MPI_ROOT, MPI_PROC_NULL, or nonsense */
    }
    if (kind != COLLECTIVE_BARRIER && c->sent_bytes == 0 && c->received_bytes == 0)
        kind = COLLECTIVE_OTHER; /* nothing to wait for: MPI may return at once */
    *event_batch_collective(r->batch, time) = (struct collective){
        .begin_ns = begin,
        .sent_bytes = c->sent_bytes,
        .received_bytes = c->received_bytes,
        .comm = comm,
        .kind = (uint32_t)kind,
        .root = root_rank,
        .order = r->n_collectives[comm]++,
        .instance = NO_INSTANCE,
    };
}

void otf2_events_collective_begin(struct otf2_events *r, uint64_t time)
{
    r->collective_begin = time;
    r->is_in_collective = true;
}

void otf2_events_collective_end(struct otf2_events *r, uint64_t time,
                                const struct otf2_collective *c)
{
    uint64_t begin = r->is_in_collective ? r->collective_begin : time;

    /* It blocks, so a begin before the end of the one before is damage, and must not move others. */
    if (begin < r->blocking_end && r->blocking_end <= time)
        begin = r->blocking_end;
    push_collective(r, begin, time, c);
    r->blocking_end = time;
    r->is_in_collective = false;
}

void otf2_events_icollective_request(struct otf2_events *r, uint64_t time, uint64_t request)
{
    post(r, request, time, 0);
}

void otf2_events_icollective_complete(struct otf2_events *r, uint64_t time,
                                      const struct otf2_collective *c, uint64_t request)
{
    struct posted_request posted;
    bool is_known = requests_take(&r->requests, request, &posted);

    push_collective(r, is_known ? posted.time_ns : time, time, c);
}

/* ------------------------------------------------------------------- windows and files */

void otf2_events_transfer(struct otf2_events *r, uint64_t bytes)
{
    accesses_transfer(&r->batch->accesses, bytes);
}

void otf2_events_copy(struct otf2_events *r, uint64_t time, bool is_put, uint64_t id)
{
    r->is_copying = r->is_gpu;
    r->copy_begin = time;
    r->copy_id = id;
    r->copy_region = is_put ? r->tables->put_region : r->tables->get_region;
    r->copy_at = r->batch->n;
}

/* Where something began or ended meanwhile it is not between two operations. */
void otf2_events_copied(struct otf2_events *r, uint64_t time, uint64_t id)
{
    const struct event_batch *batch = r->batch;
    uint64_t last = batch->n > r->begin ? batch->event[batch->n - 1].time_ns : r->last_ticks;

    if (!r->is_copying || r->copy_id != id)
        return;
    r->is_copying = false;
    if (batch->n != r->copy_at || r->copy_begin < last || time < r->copy_begin)
        return;
    make_room(r, 2 + r->most);
    event_batch_push(r->batch, r->copy_begin, EVENT_ENTER, r->copy_region);
    event_batch_push(r->batch, time, EVENT_LEAVE, r->copy_region);
}

void otf2_events_border(struct otf2_events *r, uint64_t earlier_ns, uint64_t later_ns)
{
    uint64_t least_ns = earlier_ns < later_ns ? earlier_ns : later_ns;

    r->off_ns = earlier_ns > later_ns ? earlier_ns : later_ns;
    r->side = r->off_ns <= least_ns + 1 ? ESTIMATE_MIDDLE
              : least_ns > 0            ? ESTIMATE_EITHER
              : earlier_ns == 0         ? ESTIMATE_EARLIEST
                                        : ESTIMATE_LATEST;
    r->is_annotated = r->has_border = true;
    r->batch->error_bounds.n_off[error_bounds_bin(r->off_ns)]++;
}

/* What is said of it follows on an enter, and precedes a leave. */
void otf2_events_annotated(struct otf2_events *r, uint64_t time, enum event_kind kind,
                           OTF2_RegionRef id)
{
    struct event_batch *batch = r->batch;
    size_t at = batch->n;
    struct event call;

    make_room(r, 1 + r->n_attributes + r->most);
    otf2_events_call(r, time, kind, id);
    if (batch->n > at) { /* else the region is left out */
        call = batch->event[at];
        if (kind == EVENT_LEAVE)
            batch->n = at;
        if (r->has_border)
            *event_batch_estimate(batch, time) =
                (struct time_estimate){call.ref, kind == EVENT_LEAVE, r->off_ns, r->side};
        for (uint32_t i = 0; i < r->n_attributes; i++)
            *event_batch_argument(batch, time) = r->said[i];
        if (kind == EVENT_LEAVE)
            batch->event[batch->n++] = call;
    }
    otf2_events_no_call(r);
}

void otf2_events_no_call(struct otf2_events *r)
{
    r->is_annotated = r->has_border = false;
    r->n_attributes = 0;
}

void otf2_events_operation(struct otf2_events *r, uint64_t bytes)
{
    accesses_operation(&r->batch->accesses, bytes);
}

/* ------------------------------------------------------------------------------- teams */

void otf2_events_team(struct otf2_events *r, uint64_t time, const struct otf2_team *t)
{
    uint32_t comm = t->comm == OTF2_UNDEFINED_COMM ? IDMAP_NONE : comm_of(r, t->comm);

    *event_batch_team(r->batch, time) = (struct team_record){
        .kind = (uint32_t)t->kind,
        .comm = comm == IDMAP_NONE ? NO_TEAM_COMM : comm,
        .number = (uint32_t)t->number,
    };
}

/* ------------------------------------------------------------------------------ the tracer */

/*
 * The end of a flush is said by the record of its begin: the call is left then, or when
 * something else happens, whichever is first. What happens next is known when the batch is
 * full, or only when the next one is.
 */
static void leave_flush(struct otf2_events *r)
{
    struct event_batch *batch = r->batch;
    struct event *next;

    make_room(r, 1 + r->most);
    next = &batch->event[r->flush_next];
    if (r->flush_next < batch->n && next->time_ns < r->flush_end)
        r->flush_end = next->time_ns;
    memmove(next + 1, next, (batch->n++ - r->flush_next) * sizeof *next);
    *next = (struct event){r->flush_end, EVENT_LEAVE, r->tables->flush_region};
    r->is_flushing = false;
}

void otf2_events_flush(struct otf2_events *r, uint64_t time, uint64_t stop)
{
    const struct event_batch *batch = r->batch;
    uint64_t last = batch->n > r->begin ? batch->event[batch->n - 1].time_ns : r->last_ticks;

    if (time < last) /* it is of the event that found the buffer full, and was put before it */
        time = last;
    if (r->is_flushing) {
        r->flush_end = r->flush_end < time ? r->flush_end : time;
        leave_flush(r);
    }
    make_room(r, 1 + r->most);
    event_batch_push(r->batch, time, EVENT_ENTER, r->tables->flush_region);
    r->is_flushing = true;
    r->flush_end = stop > time ? stop : time;
    r->flush_next = batch->n;
}

/* ---------------------------------------------------------------------------- counters */

static const struct otf2_metric *metric_of(const struct otf2_events *r, OTF2_MetricRef id)
{
    uint32_t at = find(&r->id.metric, &r->tables->id.metric, id);

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

void otf2_events_metric(struct otf2_events *r, uint64_t time, OTF2_MetricRef metric, uint8_t n,
                        const OTF2_Type *types, const OTF2_MetricValue *values)
{
    const struct otf2_metric *m = r->wants_counters ? metric_of(r, metric) : NULL;

    if (m == NULL || n > m->n) {
        r->quality->n[QUALITY_ignored_event]++;
        return;
    }
    /* one record, several events: those after it must still have room */
    make_room(r, n + r->most);
    for (uint8_t i = 0; i < n; i++)
        *event_batch_counter(r->batch, time) = value_of(&m->member[i], types[i], &values[i]);
}

/* --------------------------------------------------------------------------- arguments */

static const char *text_of(const struct otf2_events *r, uint32_t id)
{
    uint32_t at = find(&r->id.string, &r->tables->id.string, id);

    return at == IDMAP_NONE ? NULL : r->tables->text[at];
}

/* False where the value is none that can be shown. */
static bool set_value(const struct otf2_events *r, OTF2_Type type, OTF2_AttributeValue value,
                      struct argument_value *out)
{
    switch (type) {
    case OTF2_TYPE_UINT8:
        out->natural = value.uint8;
        break;
    case OTF2_TYPE_UINT16:
        out->natural = value.uint16;
        break;
    case OTF2_TYPE_UINT32:
        out->natural = value.uint32;
        break;
    case OTF2_TYPE_UINT64:
        out->natural = value.uint64;
        break;
    case OTF2_TYPE_INT8:
        out->whole = value.int8;
        break;
    case OTF2_TYPE_INT16:
        out->whole = value.int16;
        break;
    case OTF2_TYPE_INT32:
        out->whole = value.int32;
        break;
    case OTF2_TYPE_INT64:
        out->whole = value.int64;
        break;
    case OTF2_TYPE_FLOAT:
        out->real = (double)value.float32;
        break;
    case OTF2_TYPE_DOUBLE:
        out->real = value.float64;
        break;
    case OTF2_TYPE_STRING:
        out->text = text_of(r, value.stringRef);
        out->kind = ARGUMENT_TEXT;
        return out->text != NULL;
    default:
        return false;
    }
    out->kind = type <= OTF2_TYPE_UINT64  ? ARGUMENT_NATURAL
                : type <= OTF2_TYPE_INT64 ? ARGUMENT_WHOLE
                                          : ARGUMENT_REAL;
    return true;
}

void otf2_events_parameter(struct otf2_events *r, uint64_t time, uint32_t parameter,
                           OTF2_Type type, uint64_t value)
{
    struct argument_value v = {.argument =
                                   find(&r->id.parameter, &r->tables->id.parameter, parameter)};
    OTF2_AttributeValue is = {.uint64 = value};

    if (type == OTF2_TYPE_STRING)
        is.stringRef = (uint32_t)value;
    if (v.argument == IDMAP_NONE || !set_value(r, type, is, &v))
        r->quality->n[QUALITY_ignored_event]++;
    else
        *event_batch_argument(r->batch, time) = v;
}

void otf2_events_attribute(struct otf2_events *r, uint32_t attribute, OTF2_Type type,
                           OTF2_AttributeValue value)
{
    struct argument_value v = {.argument =
                                   find(&r->id.attribute, &r->tables->id.attribute, attribute)};

    if (v.argument == IDMAP_NONE || !set_value(r, type, value, &v))
        return;
    if (r->n_attributes == OTF2_MAX_ATTRIBUTES) {
        r->quality->n[QUALITY_lost_detail]++;
        return;
    }
    r->said[r->n_attributes++] = v;
    r->is_annotated = true;
}

void otf2_events_init(struct otf2_events *r, const struct otf2_tables *tables,
                      const struct definitions *defs, const struct source_opts *opts)
{
    *r = (struct otf2_events){.tables = tables,
                              .defs = defs,
                              .undefined_region = tables->undefined_region,
                              .wants_counters = opts->wants_counters,
                              .wants_arguments = opts->wants_arguments};
    r->n_collectives = mem_alloc(defs->n_comms, sizeof *r->n_collectives);
}

void otf2_events_release(struct otf2_events *r)
{
    requests_release(&r->requests);
    otf2_ids_release(&r->id);
    free(r->n_collectives);
    *r = (struct otf2_events){0};
}

void otf2_events_begin(struct otf2_events *r, const struct location *location)
{
    r->rank = location->rank;
    r->is_gpu = location->is_gpu;
    r->n_messages = r->n_posted = 0;
    r->is_in_collective = r->is_flushing = r->is_copying = false;
    r->blocking_end = 0;
    otf2_events_no_call(r);
    r->last_ticks = 0;
    memset(r->n_collectives, 0, r->defs->n_comms * sizeof *r->n_collectives);
    requests_clear(&r->requests);
    otf2_ids_clear(&r->id);
}

void otf2_events_into(struct otf2_events *r, struct event_batch *batch, size_t most,
                      struct quality *quality)
{
    r->batch = batch;
    r->begin = r->flush_next = r->copy_at = batch->n;
    r->most = most;
    r->quality = quality;
    make_room(r, most);
}

static void map_region(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;
    uint32_t region = global <= UINT32_MAX
                          ? idtable_get(&r->tables->id.region, (uint32_t)global)
                          : IDMAP_NONE;

    if (local < OTF2_UNDEFINED_REGION)
        idtable_set(&r->id.region, (uint32_t)local,
                    region == IDMAP_NONE ? r->tables->undefined_region : region);
}

/* Of what a location knows by an id of its own. */
static void map_id(struct idtable *own, const struct idtable *global, uint64_t from,
                   uint64_t to)
{
    if (from < UINT32_MAX && to < UINT32_MAX)
        idtable_set(own, (uint32_t)from, idtable_get(global, (uint32_t)to));
}

static void map_comm(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;

    map_id(&r->id.comm, &r->tables->id.comm, local, global);
}

static void map_metric(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;

    map_id(&r->id.metric, &r->tables->id.metric, local, global);
}

static void map_attribute(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;

    map_id(&r->id.attribute, &r->tables->id.attribute, local, global);
}

static void map_parameter(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;

    map_id(&r->id.parameter, &r->tables->id.parameter, local, global);
}

static void map_string(uint64_t local, uint64_t global, void *arg)
{
    struct otf2_events *r = arg;

    map_id(&r->id.string, &r->tables->id.string, local, global);
}

void otf2_events_map(struct otf2_events *r, OTF2_MappingType type, const OTF2_IdMap *map)
{
    if (type == OTF2_MAPPING_REGION)
        OTF2_IdMap_Traverse(map, map_region, r);
    else if (type == OTF2_MAPPING_COMM)
        OTF2_IdMap_Traverse(map, map_comm, r);
    else if (type == OTF2_MAPPING_METRIC)
        OTF2_IdMap_Traverse(map, map_metric, r);
    else if (type == OTF2_MAPPING_ATTRIBUTE)
        OTF2_IdMap_Traverse(map, map_attribute, r);
    else if (type == OTF2_MAPPING_PARAMETER)
        OTF2_IdMap_Traverse(map, map_parameter, r);
    else if (type == OTF2_MAPPING_STRING && r->tables->text)
        OTF2_IdMap_Traverse(map, map_string, r);
}

void otf2_events_convert(struct otf2_events *r, struct ticks *ticks, size_t event,
                         size_t message, size_t collective, bool is_at_end)
{
    struct event_batch *batch = r->batch;

    if (r->is_flushing && (is_at_end || r->flush_next < batch->n))
        leave_flush(r);
    r->is_copying &= r->copy_at == batch->n; /* the next batch begins with it */
    if (batch->n > event)
        r->last_ticks = batch->event[batch->n - 1].time_ns;

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
