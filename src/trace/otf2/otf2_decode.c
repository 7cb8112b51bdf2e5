/*
 * A record is [5 time(8)] [6 length attributes] type ..., the time only where it is another
 * than before. Numbers are compressed: how many bytes, then these; none for 0, and 255 in place
 * of a length where all bits are set. The oldest kinds of record that have a single number are
 * just that; all others say how long they are, so that what is not used, or not known, is
 * stepped over. Loads are of eight bytes and masked: after the bytes of a chunk there are
 * zeros enough (otf2_file.h), and whether a record had all its bytes is asked when it is done.
 *
 * Nearly all records are enter and leave: the loop is about them, everything else is behind a
 * call. Which way round the bytes are is a property of a chunk, so there is a loop for each.
 */
#include "trace/otf2/otf2_decode.h"

#include "trace/borders.h"
#include "trace/otf2_numbers.h"

#include <string.h>

#define TIMESTAMP_BYTES 9u
#define ALL_BITS 255u    /* in place of a number's size */
#define LONG_LENGTH 255u /* in place of a record's length: that is the next eight bytes */

static inline uint64_t load(const uint8_t *at, bool is_big)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return is_big ? __builtin_bswap64(value) : value;
}

/* The number of `size` bytes, 0 to 8, at an address. */
static inline uint64_t load_bytes(const uint8_t *at, unsigned size, bool is_big)
{
    uint64_t value = load(at, is_big);

    if (size == 0)
        return 0;
    return is_big ? value >> (64 - 8 * size) : value & (UINT64_MAX >> (64 - 8 * size));
}

/* --------------------------------------------------------------- records with contents */

/* Takes the contents of a record apart. Once something does not fit all numbers are 0. */
struct contents {
    const uint8_t *at, *end;
    bool is_big, is_bad;
};

static uint64_t get_number(struct contents *c, unsigned most)
{
    unsigned size = c->at < c->end ? *c->at : UINT8_MAX - 1u;
    uint64_t value;

    if (size == ALL_BITS) {
        c->at++;
        return UINT64_MAX;
    }
    if (size > most || size >= (size_t)(c->end - c->at)) {
        c->is_bad = true;
        c->at = c->end;
        return 0;
    }
    value = load_bytes(c->at + 1, size, c->is_big);
    c->at += 1 + size;
    return value;
}

static uint32_t get_u32(struct contents *c)
{
    return (uint32_t)get_number(c, 4);
}

static uint64_t get_u64(struct contents *c)
{
    return get_number(c, 8);
}

/* A number of so many bytes, as they are. */
static uint64_t get_plain(struct contents *c, unsigned size)
{
    if ((size_t)(c->end - c->at) < size) {
        c->is_bad = true;
        c->at = c->end;
        return 0;
    }
    c->at += size;
    return load_bytes(c->at - size, size, c->is_big);
}

static uint64_t get_time(struct contents *c)
{
    return get_plain(c, 8);
}

static uint8_t get_byte(struct contents *c)
{
    if (c->at < c->end)
        return *c->at++;
    c->is_bad = true;
    return 0;
}

static struct otf2_message get_message(struct contents *c)
{
    struct otf2_message m = {.peer = get_u32(c)};

    m.comm = get_u32(c);
    m.tag = get_u32(c);
    m.bytes = get_u64(c);
    return m;
}

static struct otf2_collective get_collective(struct contents *c)
{
    struct otf2_collective v = {.op = get_byte(c)};

    v.comm = get_u32(c);
    v.root = get_u32(c);
    v.sent_bytes = get_u64(c);
    v.received_bytes = get_u64(c);
    return v;
}

static void take_metric(struct otf2_events *r, uint64_t time, struct contents *c)
{
    OTF2_MetricRef metric = get_u32(c);
    uint8_t n = get_byte(c);
    OTF2_Type type[UINT8_MAX];
    OTF2_MetricValue value[UINT8_MAX];

    for (uint8_t i = 0; i < n; i++) {
        type[i] = get_byte(c);
        value[i].unsigned_int = get_u64(c);
    }
    if (!c->is_bad)
        otf2_events_metric(r, time, metric, n, type, value);
}

static void take_parameter(struct otf2_events *r, uint8_t type, uint64_t time,
                           struct contents *c)
{
    uint32_t parameter = get_u32(c);
    uint64_t value = type == PARAMETER_STRING ? get_u32(c) : get_u64(c);

    if (!c->is_bad && r->wants_arguments)
        otf2_events_parameter(r, time, parameter,
                              type == PARAMETER_STRING ? OTF2_TYPE_STRING
                              : type == PARAMETER_INT  ? OTF2_TYPE_INT64
                                                       : OTF2_TYPE_UINT64,
                              value);
}

/* Bytes of a window or of a file. */
static void take_access(struct otf2_events *r, uint8_t type, struct contents *c)
{
    uint64_t bytes;

    get_u32(c); /* the window, or the handle */
    if (type != IO_OPERATION_COMPLETE)
        get_u32(c); /* the target */
    if (type == RMA_ATOMIC)
        get_byte(c);
    bytes = get_u64(c);
    if (type == RMA_ATOMIC)
        bytes += get_u64(c);
    if (c->is_bad)
        return;
    if (type == IO_OPERATION_COMPLETE)
        otf2_events_operation(r, bytes);
    else
        otf2_events_transfer(r, bytes);
}

/* A record that is no event: of some it is counted what they say. */
static void take_counted(struct otf2_events *r, uint8_t type, struct contents *c)
{
    switch (type) {
    case RMA_PUT:
    case RMA_GET:
    case RMA_ATOMIC:
    case IO_OPERATION_COMPLETE:
        take_access(r, type, c);
        break;
    default:
        if (type > LAST_EVENT)
            r->quality->n[QUALITY_bad_record]++;
    }
}

static bool is_of_team(uint8_t type)
{
    return (type >= THREAD_FORK && type <= THREAD_TEAM_END) ||
           (type >= THREAD_CREATE && type <= THREAD_END);
}

/* How threads are tied to each other. */
static void take_team(struct otf2_events *r, uint8_t type, uint64_t time, struct contents *c)
{
    static const uint8_t kind_of[] = {
        [THREAD_FORK] = TEAM_FORK,        [THREAD_JOIN] = TEAM_JOIN,
        [THREAD_TEAM_BEGIN] = TEAM_BEGIN, [THREAD_TEAM_END] = TEAM_END,
        [THREAD_CREATE] = TEAM_CREATE,    [THREAD_BEGIN] = TEAM_THREAD_BEGIN,
        [THREAD_END] = TEAM_THREAD_END,   [THREAD_WAIT] = TEAM_WAIT,
    };
    struct otf2_team team = {.kind = kind_of[type], .comm = OTF2_UNDEFINED_COMM};

    if (type == THREAD_FORK || type == THREAD_JOIN)
        get_byte(c); /* the paradigm */
    else
        team.comm = get_u32(c);
    if (type == THREAD_FORK)
        team.number = get_u32(c);
    else if (type >= THREAD_CREATE)
        team.number = get_u64(c);
    if (!c->is_bad)
        otf2_events_team(r, time, &team);
}

/* A record that has a length. False if its contents do not fit into that. */
static bool take_long(struct otf2_events *r, uint8_t type, uint64_t time, struct contents *c)
{
    struct otf2_message m;
    struct otf2_collective v;
    uint64_t number = 0; /* of a request, or a time */

    switch (type) {
    case BUFFER_FLUSH:
        number = get_time(c);
        if (!c->is_bad)
            otf2_events_flush(r, time, number);
        break;
    case SEND:
    case RECV:
    case ISEND:
    case IRECV:
        m = get_message(c);
        if (type == ISEND || type == IRECV)
            number = get_u64(c);
        if (c->is_bad)
            return false;
        if (type == SEND)
            otf2_events_send(r, time, &m);
        else if (type == RECV)
            otf2_events_recv(r, time, &m);
        else if (type == ISEND)
            otf2_events_isend(r, time, &m, number);
        else
            otf2_events_irecv(r, time, &m, number);
        break;
    case COLLECTIVE_BEGIN:
        otf2_events_collective_begin(r, time);
        break;
    case COLLECTIVE_END:
    case ICOLLECTIVE_COMPLETE:
        v = get_collective(c);
        if (type == ICOLLECTIVE_COMPLETE)
            number = get_u64(c);
        if (c->is_bad)
            return false;
        if (type == COLLECTIVE_END)
            otf2_events_collective_end(r, time, &v);
        else
            otf2_events_icollective_complete(r, time, &v, number);
        break;
    case ICOLLECTIVE_REQUEST:
        number = get_u64(c);
        if (!c->is_bad)
            otf2_events_icollective_request(r, time, number);
        break;
    case METRIC:
        take_metric(r, time, c);
        break;
    default:
        if (is_of_team(type))
            take_team(r, type, time, c);
        else if (type >= PARAMETER_STRING && type <= PARAMETER_UNSIGNED_INT)
            take_parameter(r, type, time, c);
        else
            take_counted(r, type, c);
    }
    return !c->is_bad;
}

static bool is_single(uint8_t type)
{
    switch (type) {
    case ISEND_COMPLETE:
    case IRECV_REQUEST:
    case REQUEST_TEST:
    case REQUEST_CANCELLED:
    case OMP_FORK:
    case OMP_TASK_CREATE:
    case OMP_TASK_SWITCH:
    case OMP_TASK_COMPLETE:
        return true;
    default:
        return false;
    }
}

/* A record that is a single number: that is at `at`. */
static bool take_single(struct otf2_file *f, struct otf2_events *r, uint8_t type,
                        const uint8_t *at)
{
    struct contents c = {.at = at, .end = f->end, .is_big = f->is_big_endian};
    uint64_t number = get_u64(&c);

    if (c.is_bad) {
        otf2_file_leave(f, *at <= 8 ? OTF2_FILE_OVERRUN : OTF2_FILE_BROKEN);
        return false;
    }
    f->at = c.at;
    if (type == ISEND_COMPLETE)
        otf2_events_isend_complete(r, f->time, number);
    else if (type == IRECV_REQUEST)
        otf2_events_irecv_request(r, f->time, number);
    else if (type == REQUEST_CANCELLED)
        otf2_events_cancelled(r, number);
    return true;
}

/* The length of a record, which is at *at; *at is then where its contents begin. */
static uint64_t get_length(const struct otf2_file *f, const uint8_t **at)
{
    uint64_t length = **at;

    *at += 1;
    if (length == LONG_LENGTH) {
        length = load(*at, f->is_big_endian);
        *at += sizeof length;
    }
    return length;
}

/* The value of an attribute. False for a type whose values are not known: nor is what follows.
 */
static bool get_attribute(struct contents *c, uint8_t type, OTF2_AttributeValue *value)
{
    *value = (OTF2_AttributeValue){0};
    switch (type) {
    case OTF2_TYPE_UINT8:
    case OTF2_TYPE_INT8:
        value->uint8 = get_byte(c);
        break;
    case OTF2_TYPE_UINT16:
    case OTF2_TYPE_INT16:
        value->uint16 = (uint16_t)get_plain(c, 2);
        break;
    case OTF2_TYPE_UINT64:
    case OTF2_TYPE_INT64:
    case OTF2_TYPE_LOCATION:
        value->uint64 = get_u64(c);
        break;
    case OTF2_TYPE_FLOAT:
        value->uint32 = (uint32_t)get_plain(c, 4);
        break;
    case OTF2_TYPE_DOUBLE:
        value->uint64 = get_plain(c, 8);
        break;
    default: /* ids of definitions */
        if (type == OTF2_TYPE_NONE || type > OTF2_TYPE_LOCATION_GROUP)
            return false;
        value->uint32 = get_u32(c);
    }
    return true;
}

/* The attributes of the event that follows: [n] (id type value)* */
static void take_attributes(struct otf2_events *r, struct contents *c)
{
    uint64_t off[2] = {0};
    bool is_ours = false;

    for (uint32_t n = get_u32(c); n > 0 && !c->is_bad; n--) {
        uint32_t id = get_u32(c);
        uint8_t type = get_byte(c);
        OTF2_AttributeValue value;

        if (!get_attribute(c, type, &value) || c->is_bad)
            break;
        if (r->tables->has_arguments)
            otf2_events_attribute(r, id, type, value);
        if (type != OTF2_TYPE_UINT64 || r->tables->earlier == NO_ATTRIBUTE)
            continue;
        if (id == r->tables->inlined)
            borders_join(&r->batch->borders, value.uint64);
        if (id != r->tables->earlier && id != r->tables->later)
            continue;
        off[id == r->tables->later] = value.uint64;
        is_ours = true;
    }
    if (is_ours)
        otf2_events_border(r, off[0], off[1]);
}

/*
 * Any record but enter and leave; its type is at f->at, f->time is its time. Returns how many
 * events it was: 1, or 0 for what is none; then the chunk may have been left.
 */
static __attribute__((noinline)) size_t take_other(struct otf2_file *f, struct otf2_events *r)
{
    const uint8_t *at = f->at + 1;
    uint8_t type = *f->at;
    uint64_t length, here;
    struct contents c;
    bool is_good = true;

    if (at > f->end || (type < FIRST_EVENT && type != ATTRIBUTES)) {
        otf2_file_leave(f, at > f->end             ? OTF2_FILE_OVERRUN
                           : type == END_OF_CHUNK  ? OTF2_FILE_MARKED
                           : type <= END_OF_BUFFER ? OTF2_FILE_LAST
                                                   : OTF2_FILE_BROKEN);
        return 0;
    }
    if (is_single(type))
        return take_single(f, r, type, at);
    length = get_length(f, &at);
    here = at <= f->end ? (uint64_t)(f->end - at) : 0;
    if (at > f->end || length > f->bytes ||
        !otf2_file_has(f, length + (uint64_t)(at - f->at))) {
        otf2_file_leave(f, OTF2_FILE_OVERRUN);
        return 0;
    }
    c = (struct contents){
        .at = at, .end = at + (length < here ? length : here), .is_big = f->is_big_endian};
    if (type != ATTRIBUTES)
        is_good = take_long(r, type, f->time, &c);
    else if (r->tables->earlier != NO_ATTRIBUTE || r->tables->has_arguments)
        take_attributes(r, &c);
    if (!is_good) {
        otf2_file_leave(f, OTF2_FILE_BROKEN);
        return 0;
    }
    otf2_file_skip(f, length + (uint64_t)(at - f->at));
    return type != ATTRIBUTES;
}

/* ----------------------------------------------------------------------------- the loop */

/*
 * The record that attributes say something of, if it is an enter or leave and in memory yet.
 * Returns how many events it was.
 */
static __attribute__((noinline)) size_t take_annotated(struct otf2_file *f,
                                                       struct otf2_events *r)
{
    struct contents c = {.is_big = f->is_big_endian};
    uint32_t region;
    uint8_t type;

    if (f->at >= f->fill)
        return 0;
    if (*f->at == TIMESTAMP) {
        f->time = load(f->at + 1, f->is_big_endian);
        f->at += TIMESTAMP_BYTES;
    }
    type = *f->at;
    if (type != ENTER && type != LEAVE) {
        otf2_events_no_call(r);
        return 0;
    }
    c.at = f->at + 1;
    c.end = f->end;
    region = get_u32(&c);
    if (c.is_bad) {
        otf2_file_leave(f, f->at[1] > 4 ? OTF2_FILE_BROKEN : OTF2_FILE_OVERRUN);
        return 0;
    }
    otf2_events_annotated(r, f->time, type == ENTER ? EVENT_ENTER : EVENT_LEAVE, region);
    f->at = c.at;
    f->n_events++;
    return 1;
}

/* Decodes events of what is in memory of the current chunk, at most so many. */
static inline __attribute__((always_inline)) size_t
decode_window(struct otf2_file *f, struct otf2_events *r, size_t most, const bool is_big)
{
    const uint64_t chunk_at = f->chunk_at;
    size_t n = r->is_annotated ? take_annotated(f, r) : 0;

    while (n < most && f->at < f->fill && f->chunk_at == chunk_at) {
        const uint8_t *at = f->at;
        unsigned size;
        uint32_t region;

        if (*at == TIMESTAMP) {
            f->time = load(at + 1, is_big);
            at += TIMESTAMP_BYTES;
        }
        if (__builtin_expect(*at != ENTER && *at != LEAVE, 0)) {
            size_t taken;

            f->at = at;
            taken = take_other(f, r);
            f->n_events += taken;
            n += taken;
            if (r->is_annotated)
                n += take_annotated(f, r);
            continue;
        }
        size = at[1] == ALL_BITS ? 0 : at[1];
        if (__builtin_expect(size > 4 || at + 2 + size > f->end, 0)) {
            otf2_file_leave(f, size > 4 ? OTF2_FILE_BROKEN : OTF2_FILE_OVERRUN);
            break;
        }
        region = at[1] == ALL_BITS ? UINT32_MAX : (uint32_t)load_bytes(at + 2, size, is_big);
        otf2_events_call(r, f->time, *at == ENTER ? EVENT_ENTER : EVENT_LEAVE, region);
        f->at = at + 2 + size;
        f->n_events++;
        n++;
    }
    return n;
}

size_t otf2_decode(struct otf2_file *f, struct otf2_events *r)
{
    size_t n = 0;

    while (n < r->most && otf2_file_fill(f))
        n += f->is_big_endian ? decode_window(f, r, r->most - n, true)
                              : decode_window(f, r, r->most - n, false);
    return n;
}
