/*
 * What the parts of records of windows and files are:
 *
 *     WINDOW_END                      peer: the operation    how: the level
 *     GROUP_SYNC                      peer: the group        how: the level
 *     MEMORY_SYNC                     peer: a rank           how: the type
 *     LOCK_REQUEST, LOCK_RELEASE      peer: a rank           how: the type of lock
 *     PUT, GET, ATOMIC                peer: a rank           how: the type      id, bytes
 *     TRANSFERRED, .._REMOTE                                                    id
 *     FILE_OPEN                       peer: access           how: creation      id: status
 *     FILE_SEEK                       bytes: the offset      how: from where
 *                                     received_bytes: the result
 *     IO_BEGIN, .._COMPLETE           peer: the mode         how: flags         id, bytes
 *
 * A window has one lock for each of its ranks: number 0; files are of one paradigm: number 0.
 */
#include "trace/tracer/tracer_otf2.h"

#include "trace/otf2_numbers.h"

#include <otf2/otf2.h> /* for its numbers alone */
#include <stdbool.h>
#include <string.h>

#define IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define ENDIAN_MARK (IS_BIG_ENDIAN ? 0x23 : 0x42)
#define ALL_BITS 255 /* in place of a number's size */
#define ONLY_LOCK 0
#define ONLY_PARADIGM 0

const uint8_t record_slots_of[N_RECORD_KINDS] = {
    [RECORD_ENTER] = 1,
    [RECORD_LEAVE] = 1,
    [RECORD_SEND] = 2,
    [RECORD_RECV] = 2,
    [RECORD_ISEND] = 3,
    [RECORD_ISEND_COMPLETE] = 2,
    [RECORD_IRECV_REQUEST] = 2,
    [RECORD_IRECV] = 3,
    [RECORD_CANCELLED] = 2,
    [RECORD_COLLECTIVE_BEGIN] = 1,
    [RECORD_COLLECTIVE_END] = 3,
    [RECORD_FLUSH] = 2,
    [RECORD_ICOLLECTIVE_REQUEST] = 2,
    [RECORD_ICOLLECTIVE] = 3,
    [RECORD_ENTER_BETWEEN] = 2,
    [RECORD_LEAVE_BETWEEN] = 2,
    [RECORD_LEAVE_INLINED] = 3,
    [RECORD_FORK] = 1,
    [RECORD_JOIN] = 1,
    [RECORD_TEAM_BEGIN] = 1,
    [RECORD_TEAM_END] = 1,
    [RECORD_WINDOW_CREATE] = 1,
    [RECORD_WINDOW_DESTROY] = 1,
    [RECORD_WINDOW_BEGIN] = 1,
    [RECORD_WINDOW_END] = 2,
    [RECORD_GROUP_SYNC] = 2,
    [RECORD_MEMORY_SYNC] = 2,
    [RECORD_LOCK_REQUEST] = 2,
    [RECORD_LOCK_RELEASE] = 2,
    [RECORD_PUT] = 3,
    [RECORD_GET] = 3,
    [RECORD_ATOMIC] = 3,
    [RECORD_TRANSFERRED] = 2,
    [RECORD_TRANSFERRED_REMOTE] = 2,
    [RECORD_FILE_OPEN] = 2,
    [RECORD_FILE_CLOSE] = 1,
    [RECORD_FILE_DELETE] = 1,
    [RECORD_FILE_SEEK] = 3,
    [RECORD_IO_BEGIN] = 3,
    [RECORD_IO_ISSUED] = 2,
    [RECORD_IO_COMPLETE] = 3,
};

/* ---------------------------------------------------------------------------------- numbers */

/* How many bytes, and these. */
static inline uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    unsigned size = value == 0 ? 0 : (39 - (unsigned)__builtin_clz(value)) / 8;

    if (__builtin_expect(value == UINT32_MAX, 0)) {
        *at = ALL_BITS;
        return at + 1;
    }
    if (IS_BIG_ENDIAN && size > 0)
        value <<= 8 * (sizeof value - size);
    *at = (uint8_t)size;
    memcpy(at + 1, &value, sizeof value);
    return at + 1 + size;
}

/* A signed one, which has no shorter form for -1. */
static inline uint8_t *put_i64(uint8_t *at, int64_t number)
{
    uint64_t value = (uint64_t)number;
    unsigned size = value == 0 ? 0 : (71 - (unsigned)__builtin_clzll(value)) / 8;

    if (IS_BIG_ENDIAN && size > 0)
        value <<= 8 * (sizeof value - size);
    *at = (uint8_t)size;
    memcpy(at + 1, &value, sizeof value);
    return at + 1 + size;
}

static inline uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    if (value == UINT64_MAX) {
        *at = ALL_BITS;
        return at + 1;
    }
    return put_i64(at, (int64_t)value);
}

static inline uint8_t *put_plain(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static inline uint8_t *put_byte(uint8_t *at, uint32_t value)
{
    *at = (uint8_t)value;
    return at + 1;
}

/* --------------------------------------------------------------------------------- contents */

static uint8_t *put_message(uint8_t *at, const union slot *s, bool has_request)
{
    at = put_u32(at, s[1].message.peer);
    at = put_u32(at, s->head.id);
    at = put_u32(at, s[1].message.tag);
    at = put_u64(at, s[1].message.bytes);
    return has_request ? put_u64(at, s[2].request.id) : at;
}

static uint8_t *put_collective(uint8_t *at, const union slot *s, bool has_request)
{
    at = put_byte(at, s[1].collective.operation);
    at = put_u32(at, s->head.id);
    at = put_u32(at, s[1].collective.root);
    at = put_u64(at, s[1].collective.sent_bytes);
    at = put_u64(at, s[2].collective_more.received_bytes);
    return has_request ? put_u64(at, s[2].collective_more.request) : at;
}

static uint8_t *put_transfer(uint8_t *at, const union slot *s)
{
    at = put_u32(at, s->head.id);
    at = put_u32(at, s[1].access.peer);
    if (s->head.kind == RECORD_ATOMIC)
        at = put_byte(at, s[1].access.how);
    if (s->head.kind != RECORD_GET)
        at = put_u64(at, s[2].access_more.bytes);
    if (s->head.kind != RECORD_PUT)
        at = put_u64(at, s[2].access_more.received_bytes);
    return put_u64(at, s[1].access.id);
}

static uint8_t *put_window(uint8_t *at, const union slot *s)
{
    switch (s->head.kind) {
    case RECORD_WINDOW_END:
        at = put_byte(at, s[1].access.peer);
        at = put_u32(at, s[1].access.how);
        at = put_u32(at, s->head.id);
        at = put_u32(at, OTF2_COLLECTIVE_ROOT_NONE);
        return put_u64(put_u64(at, 0), 0);
    case RECORD_GROUP_SYNC:
        at = put_u32(at, s[1].access.how);
        at = put_u32(at, s->head.id);
        return put_u32(at, s[1].access.peer);
    case RECORD_MEMORY_SYNC:
        at = put_u32(at, s->head.id);
        at = put_u32(at, s[1].access.peer);
        return put_byte(at, s[1].access.how);
    case RECORD_LOCK_REQUEST:
    case RECORD_LOCK_RELEASE:
        at = put_u32(at, s->head.id);
        at = put_u32(at, s[1].access.peer);
        at = put_u64(at, ONLY_LOCK);
        return s->head.kind == RECORD_LOCK_REQUEST ? put_byte(at, s[1].access.how) : at;
    default: /* it is made or freed */
        return put_u32(at, s->head.id);
    }
}

static uint8_t *put_file(uint8_t *at, const union slot *s)
{
    if (s->head.kind == RECORD_FILE_DELETE)
        at = put_byte(at, ONLY_PARADIGM);
    at = put_u32(at, s->head.id);
    switch (s->head.kind) {
    case RECORD_FILE_OPEN:
        at = put_byte(at, s[1].access.peer);
        at = put_u32(at, s[1].access.how);
        return put_u32(at, (uint32_t)s[1].access.id);
    case RECORD_FILE_SEEK:
        at = put_i64(at, (int64_t)s[2].access_more.bytes);
        at = put_byte(at, s[1].access.how);
        return put_u64(at, s[2].access_more.received_bytes);
    case RECORD_IO_BEGIN:
        at = put_byte(at, s[1].access.peer);
        at = put_u32(at, s[1].access.how);
        at = put_u64(at, s[2].access_more.bytes);
        return put_u64(at, s[1].access.id);
    case RECORD_IO_ISSUED:
        return put_u64(at, s[1].access.id);
    case RECORD_IO_COMPLETE:
        at = put_u64(at, s[2].access_more.bytes);
        return put_u64(at, s[1].access.id);
    default: /* it is closed or deleted */
        return at;
    }
}

static uint8_t *put_contents(uint8_t *at, const union slot *s)
{
    switch (s->head.kind) {
    case RECORD_SEND:
    case RECORD_RECV:
        return put_message(at, s, false);
    case RECORD_ISEND:
    case RECORD_IRECV:
        return put_message(at, s, true);
    case RECORD_COLLECTIVE_BEGIN:
    case RECORD_WINDOW_BEGIN:
        return at;
    case RECORD_COLLECTIVE_END:
        return put_collective(at, s, false);
    case RECORD_ICOLLECTIVE:
        return put_collective(at, s, true);
    case RECORD_ICOLLECTIVE_REQUEST:
        return put_u64(at, s[1].request.id);
    case RECORD_FLUSH:
        return put_plain(at, s[1].flush.end_ns);
    case RECORD_FORK:
        return put_u32(put_byte(at, OTF2_PARADIGM_OPENMP), s->head.id);
    case RECORD_JOIN:
        return put_byte(at, OTF2_PARADIGM_OPENMP);
    case RECORD_TEAM_BEGIN:
    case RECORD_TEAM_END:
        return put_u32(at, s->head.id);
    case RECORD_PUT:
    case RECORD_GET:
    case RECORD_ATOMIC:
        return put_transfer(at, s);
    case RECORD_TRANSFERRED:
    case RECORD_TRANSFERRED_REMOTE:
        return put_u64(put_u32(at, s->head.id), s[1].access.id);
    default:
        return s->head.kind < RECORD_FILE_OPEN ? put_window(at, s) : put_file(at, s);
    }
}

/* ---------------------------------------------------------------------------------- records */

/* Those that are neither enter nor leave. */
static const uint8_t type_of[N_RECORD_KINDS] = {
    [RECORD_SEND] = SEND,
    [RECORD_RECV] = RECV,
    [RECORD_ISEND] = ISEND,
    [RECORD_ISEND_COMPLETE] = ISEND_COMPLETE,
    [RECORD_IRECV_REQUEST] = IRECV_REQUEST,
    [RECORD_IRECV] = IRECV,
    [RECORD_CANCELLED] = REQUEST_CANCELLED,
    [RECORD_COLLECTIVE_BEGIN] = COLLECTIVE_BEGIN,
    [RECORD_COLLECTIVE_END] = COLLECTIVE_END,
    [RECORD_ICOLLECTIVE] = ICOLLECTIVE_COMPLETE,
    [RECORD_ICOLLECTIVE_REQUEST] = ICOLLECTIVE_REQUEST,
    [RECORD_FLUSH] = BUFFER_FLUSH,
    [RECORD_FORK] = THREAD_FORK,
    [RECORD_JOIN] = THREAD_JOIN,
    [RECORD_TEAM_BEGIN] = THREAD_TEAM_BEGIN,
    [RECORD_TEAM_END] = THREAD_TEAM_END,
    [RECORD_WINDOW_CREATE] = RMA_WIN_CREATE,
    [RECORD_WINDOW_DESTROY] = RMA_WIN_DESTROY,
    [RECORD_WINDOW_BEGIN] = RMA_COLLECTIVE_BEGIN,
    [RECORD_WINDOW_END] = RMA_COLLECTIVE_END,
    [RECORD_GROUP_SYNC] = RMA_GROUP_SYNC,
    [RECORD_MEMORY_SYNC] = RMA_SYNC,
    [RECORD_LOCK_REQUEST] = RMA_REQUEST_LOCK,
    [RECORD_LOCK_RELEASE] = RMA_RELEASE_LOCK,
    [RECORD_PUT] = RMA_PUT,
    [RECORD_GET] = RMA_GET,
    [RECORD_ATOMIC] = RMA_ATOMIC,
    [RECORD_TRANSFERRED] = RMA_OP_COMPLETE_NON_BLOCKING,
    [RECORD_TRANSFERRED_REMOTE] = RMA_OP_COMPLETE_REMOTE,
    [RECORD_FILE_OPEN] = IO_CREATE_HANDLE,
    [RECORD_FILE_CLOSE] = IO_DESTROY_HANDLE,
    [RECORD_FILE_DELETE] = IO_DELETE_FILE,
    [RECORD_FILE_SEEK] = IO_SEEK,
    [RECORD_IO_BEGIN] = IO_OPERATION_BEGIN,
    [RECORD_IO_ISSUED] = IO_OPERATION_ISSUED,
    [RECORD_IO_COMPLETE] = IO_OPERATION_COMPLETE,
};

static uint8_t *put_other(uint8_t *at, const union slot *s)
{
    uint8_t *length;

    *at++ = type_of[s->head.kind];
    if (s->head.kind == RECORD_ISEND_COMPLETE || s->head.kind == RECORD_IRECV_REQUEST ||
        s->head.kind == RECORD_CANCELLED)
        return put_u64(at, s[1].request.id); /* these have no length */
    length = at++;
    at = put_contents(at, s);
    *length = (uint8_t)(at - length - 1);
    return at;
}

static uint8_t *put_attribute(uint8_t *at, uint32_t attribute, uint64_t value)
{
    return put_u64(put_byte(put_u32(at, attribute), OTF2_TYPE_UINT64), value);
}

/* How much earlier and later it may have been are differences, as the clocks of ranks are put
 * right by readers who know nothing of our attributes. */
static uint8_t *put_estimate(uint8_t *at, const union slot *s)
{
    uint64_t time_ns = s->head.time_ns, earliest_ns = s[1].between.earliest_ns;
    uint64_t latest_ns = s[1].between.latest_ns;
    bool is_inlined = s->head.kind == RECORD_LEAVE_INLINED;
    uint8_t *length;

    *at++ = ATTRIBUTES;
    length = at++;
    at = put_u32(at, is_inlined ? 3 : 2);
    at =
        put_attribute(at, ATTRIBUTE_EARLIER, time_ns > earliest_ns ? time_ns - earliest_ns : 0);
    at = put_attribute(at, ATTRIBUTE_LATER, latest_ns > time_ns ? latest_ns - time_ns : 0);
    if (is_inlined)
        at = put_attribute(at, ATTRIBUTE_INLINED, s[2].inlined.most_calls);
    *length = (uint8_t)(at - length - 1);
    *at++ = s->head.kind == RECORD_ENTER_BETWEEN ? ENTER : LEAVE;
    return put_u32(at, s->head.id);
}

const union slot *tracer_otf2_put(struct tracer_otf2 *to, const union slot *slot,
                                  const union slot *end)
{
    uint8_t *at = to->at;

    while (slot < end && to->end - at >= (ptrdiff_t)TRACER_OTF2_MAX_RECORD_BYTES) {
        uint32_t kind = slot->head.kind, n_slots = record_slots(kind);

        if (__builtin_expect(n_slots == 0 || n_slots > (size_t)(end - slot), 0))
            break;
        if (!to->has_time || slot->head.time_ns > to->time_ns) {
            to->time_ns = slot->head.time_ns > to->time_ns ? slot->head.time_ns : to->time_ns;
            to->has_time = true;
            *at = TIMESTAMP;
            at = put_plain(at + 1, to->time_ns);
        }
        if (kind == RECORD_ENTER || kind == RECORD_LEAVE) {
            *at = kind == RECORD_ENTER ? ENTER : LEAVE;
            at = put_u32(at + 1, slot->head.id);
            to->n_open += kind == RECORD_ENTER ? 1 : UINT32_MAX;
        } else if (kind == RECORD_ENTER_BETWEEN || record_is_leave(kind)) {
            at = put_estimate(at, slot);
            to->n_open += kind == RECORD_ENTER_BETWEEN ? 1 : UINT32_MAX;
        } else {
            at = put_other(at, slot);
        }
        to->n_events++;
        slot += n_slots;
    }
    to->at = at;
    return slot;
}

bool tracer_otf2_lose(struct state_commit *lost, const union slot *slot)
{
    uint32_t kind = slot->head.kind;

    if (record_is_enter(kind)) {
        lost->n_lost++;
        lost->n_lost_open++;
        return false;
    }
    if (!record_is_leave(kind) || lost->n_lost_open == 0)
        return record_is_leave(kind);
    lost->n_lost_open--;
    return false;
}

/* ----------------------------------------------------------------------------------- chunks */

void tracer_otf2_begin(struct tracer_otf2 *to, uint8_t *chunk, size_t bytes)
{
    chunk[0] = TRACER_OTF2_MARK;
    chunk[1] = ENDIAN_MARK;
    put_plain(put_plain(chunk + 2, to->n_events + 1), 0);
    to->at = chunk + TRACER_OTF2_HEADER;
    to->end = chunk + bytes - TRACER_OTF2_END;
    to->has_time = false;
}

static void put_last(const struct tracer_otf2 *to, uint8_t *chunk)
{
    put_plain(chunk + TRACER_OTF2_HEADER - sizeof(uint64_t), to->n_events);
}

size_t tracer_otf2_end(struct tracer_otf2 *to, uint8_t *chunk, size_t bytes)
{
    put_last(to, chunk);
    memset(to->at, END_OF_CHUNK, (size_t)(chunk + bytes - to->at));
    return bytes;
}

size_t tracer_otf2_end_file(struct tracer_otf2 *to, uint8_t *chunk)
{
    put_last(to, chunk);
    *to->at++ = END_OF_BUFFER;
    *to->at++ = END_OF_FILE;
    return (size_t)(to->at - chunk);
}
