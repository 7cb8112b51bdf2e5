/* Numbers are written straight into the blob; room for a whole record is made before it. */
#include "live_frame.h"

#include "regions.h"

#include <string.h>

#define LONGEST_RECORD 80 /* bytes: 8 numbers of 10 at most */

/* ---------------------------------------------------------------------------------- bytes */

/* At most LONGEST_RECORD. Where there is no memory the bytes go nowhere. */
static inline unsigned char *room(struct blob *to, size_t n)
{
    static unsigned char nowhere[LONGEST_RECORD];

    return blob_room(to, n) ? (unsigned char *)to->data + to->n : nowhere;
}

static inline unsigned char *put_number(unsigned char *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (unsigned char)(number | 0x80);
    *at++ = (unsigned char)number;
    return at;
}

static inline void done(struct blob *to, const unsigned char *at)
{
    if (!to->is_short)
        to->n = (size_t)(at - (unsigned char *)to->data);
}

void frame_number(struct blob *to, uint64_t number)
{
    done(to, put_number(room(to, 10), number));
}

void frame_u64(struct blob *to, uint64_t number)
{
    unsigned char *at = room(to, 8);

    for (int i = 0; i < 8; i++)
        *at++ = (unsigned char)(number >> 8 * i);
    done(to, at);
}

void frame_text(struct blob *to, const char *text)
{
    size_t n = strnlen(text, TRACER_LONGEST_TEXT);

    frame_number(to, n);
    blob_put(to, text, n);
}

size_t frame_begin(struct blob *to, enum tracer_frame_kind kind)
{
    size_t begin = to->n;
    unsigned char header[TRACER_HEADER_SIZE] = TRACER_MAGIC;

    header[TRACER_MAGIC_SIZE] = (unsigned char)kind;

    blob_put(to, header, sizeof header);
    return begin;
}

void frame_end(struct blob *to, size_t begin)
{
    size_t n = to->n - begin - TRACER_HEADER_SIZE;
    unsigned char *at = (unsigned char *)to->data + begin + 8;

    if (to->is_short)
        return;
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(n >> 8 * i);
}

/* -------------------------------------------------------------------------------- records */

static void push(struct frame_writer *l, uint32_t region, uint64_t enter_ns)
{
    if (memory_grow(&l->open, l->n_open, l->cap_open))
        l->open[l->n_open++] = (struct entered_call){region, enter_ns};
    else
        l->records.is_short = true;
}

/* The frame begins: the calls that are open, by how long before it or each other. */
static void begin(struct frame_writer *l, uint64_t time_ns)
{
    l->begin_ns = l->last_ns = time_ns;
    l->stack.n = 0;
    frame_number(&l->stack, l->n_open);
    for (uint32_t i = 0; i < l->n_open; i++) {
        frame_number(&l->stack, l->open[i].region);
        frame_number(&l->stack, i == 0 ? time_ns - l->open[i].enter_ns
                                       : l->open[i].enter_ns - l->open[i - 1].enter_ns);
    }
}

static unsigned char *put_message(unsigned char *at, const union slot *s)
{
    at = put_number(at, s->head.id);
    at = put_number(at, s[1].message.peer);
    at = put_number(at, s[1].message.tag);
    at = put_number(at, s[1].message.bytes);
    if (record_slots(s->head.kind) > 2)
        at = put_number(at, s[2].request.id);
    return at;
}

static enum tracer_sort sort_of(uint32_t operation)
{
    switch (operation) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return TRACER_SORT_BARRIER;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return TRACER_SORT_ALL_FOR_ALL;
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return TRACER_SORT_ONE_FOR_ALL;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
    case OTF2_COLLECTIVE_OP_REDUCE:
        return TRACER_SORT_ALL_FOR_ONE;
    default:
        return TRACER_SORT_OTHER;
    }
}

static unsigned char *put_collective(unsigned char *at, const union slot *s)
{
    at = put_number(at, sort_of(s[1].collective.operation));
    at = put_number(at, s->head.id);
    at = put_number(at, s[1].collective.root);
    at = put_number(at, s[1].collective.sent_bytes);
    return put_number(at, s[2].collective_more.received_bytes);
}

/* Numbers that a kind has none of are 0: a byte. */
static unsigned char *put_access(unsigned char *at, const union slot *s)
{
    uint32_t n = record_slots(s->head.kind);

    at = put_number(at, s->head.id);
    at = put_number(at, n > 1 ? s[1].access.peer : 0);
    at = put_number(at, n > 1 ? s[1].access.how : 0);
    at = put_number(at, n > 1 ? s[1].access.id : 0);
    at = put_number(at, n > 2 ? s[2].access_more.bytes : 0);
    return put_number(at, n > 2 ? s[2].access_more.received_bytes : 0);
}

/* By how much the time of an enter or a leave may be off, either way. */
static unsigned char *put_off(unsigned char *at, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns, earlier_ns = 0, later_ns = 0;

    if (s[1].between.earliest_ns < time_ns)
        earlier_ns = time_ns - s[1].between.earliest_ns;
    if (s[1].between.latest_ns > time_ns)
        later_ns = s[1].between.latest_ns - time_ns;
    return put_number(at, earlier_ns > later_ns ? earlier_ns : later_ns);
}

/* What follows the head of a record. */
static inline unsigned char *put_details(struct frame_writer *l, unsigned char *at,
                                         const union slot *s)
{
    switch (s->head.kind) {
    case RECORD_ENTER:
        push(l, s->head.id, l->last_ns);
        return put_number(at, s->head.id);
    case RECORD_ENTER_BETWEEN:
        push(l, s->head.id, l->last_ns);
        return put_off(put_number(at, s->head.id), s);
    case RECORD_LEAVE:
        l->n_open -= l->n_open > 0;
        return at;
    case RECORD_LEAVE_BETWEEN:
    case RECORD_LEAVE_INLINED:
        l->n_open -= l->n_open > 0;
        return put_off(at, s);
    case RECORD_ISEND_COMPLETE:
    case RECORD_IRECV_REQUEST:
    case RECORD_CANCELLED:
    case RECORD_ICOLLECTIVE_REQUEST:
        return put_number(at, s[1].request.id);
    case RECORD_COLLECTIVE_BEGIN:
        return at;
    case RECORD_COLLECTIVE_END:
        return put_collective(at, s);
    case RECORD_ICOLLECTIVE:
        return put_number(put_collective(at, s), s[2].collective_more.request);
    case RECORD_SEND:
    case RECORD_RECV:
    case RECORD_ISEND:
    case RECORD_IRECV:
        return put_message(at, s);
    default:
        return put_access(at, s);
    }
}

static inline unsigned char *put_head(struct frame_writer *l, uint64_t time_ns, unsigned kind)
{
    unsigned char *at = room(&l->records, LONGEST_RECORD);

    if (time_ns < l->last_ns)
        time_ns = l->last_ns;
    if (l->n_records++ == 0)
        begin(l, time_ns);
    at = put_number(at, (time_ns - l->last_ns) << 4 |
                            (kind < TRACER_RECORD_MORE ? kind : TRACER_RECORD_MORE));
    l->last_ns = time_ns;
    return kind < TRACER_RECORD_MORE ? at : put_number(at, kind - TRACER_RECORD_MORE);
}

uint64_t frame_writer_records(struct frame_writer *l, const union slot *slot, size_t n)
{
    uint64_t n_records = 0;

    for (const union slot *s = slot; s < slot + n; s += record_slots(s->head.kind)) {
        unsigned char *at;

        n_records++;
        if (s->head.kind >= RECORD_FLUSH)
            continue;
        at = put_head(l, s->head.time_ns,
                      s->head.kind == RECORD_LEAVE_INLINED ? RECORD_LEAVE_BETWEEN
                                                           : s->head.kind);
        done(&l->records, put_details(l, at, s));
    }
    return n_records;
}

void frame_writer_counter(struct frame_writer *l, uint64_t time_ns, uint32_t counter,
                          int64_t value)
{
    unsigned char *at = put_head(l, time_ns, RECORD_COUNTER);

    at = put_number(at, counter);
    at = put_number(at, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
    done(&l->records, at);
}

/* --------------------------------------------------------------------------------- frames */

void frame_writer_restart(struct frame_writer *l, const struct entered_call *open,
                          uint32_t n_open)
{
    l->n_open = 0;
    for (uint32_t i = 0; i < n_open; i++)
        push(l, open[i].region, open[i].enter_ns);
}

size_t frame_writer_bytes(const struct frame_writer *l)
{
    return TRACER_HEADER_SIZE + 28 + l->stack.n + l->records.n;
}

static void clear(struct frame_writer *l)
{
    l->records.n = l->stack.n = 0;
    l->n_records = 0;
}

void frame_writer_put(struct frame_writer *l, struct blob *to)
{
    size_t at = frame_begin(to, TRACER_FRAME_EVENTS);

    if (l->n_records == 0) /* only to say what was lost, and what is open */
        begin(l, clock_ns());
    frame_number(to, l->recorder->thread);
    frame_number(to, l->n_lost);
    frame_u64(to, l->begin_ns);
    blob_put(to, l->stack.data, l->stack.n);
    blob_put(to, l->records.data, l->records.n);
    to->is_short |= l->stack.is_short || l->records.is_short;
    frame_end(to, at);
    l->n_queued += l->n_records;
    l->n_lost = 0;
    clear(l);
}

void frame_writer_lose(struct frame_writer *l)
{
    l->n_lost += l->n_records;
    l->n_lost_in_all += l->n_records;
    clear(l);
}

/* A header, the length of a text in one or two bytes, the text. */
const char *frame_refusal(char *data, size_t n)
{
    static const char kind[4] = {TRACER_FRAME_REFUSED};
    size_t at = TRACER_HEADER_SIZE, length = 0;

    if (n < TRACER_HEADER_SIZE + 1 || memcmp(data, TRACER_MAGIC, TRACER_MAGIC_SIZE) != 0 ||
        memcmp(data + TRACER_MAGIC_SIZE, kind, sizeof kind) != 0)
        return NULL;
    for (unsigned shift = 0; at < n && shift <= 14; shift += 7) {
        length |= (size_t)(data[at] & 0x7f) << shift;
        if ((data[at++] & 0x80) == 0)
            break;
    }
    if (length > n - at)
        length = n - at;
    memmove(data, data + at, length);
    data[length < n ? length : n - 1] = '\0';
    return data;
}
