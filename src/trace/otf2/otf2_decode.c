/*
 * The bytes of an event file become events.
 *
 *     file:   | chunk 0 .............. | chunk 1 .............. | chunk 2 ... 1 |
 *     chunk:  3 order first(8) last(8) | record | record | ... | 0 0 0 0
 *     record: [5 time(8)] [6 length attributes] type, then one compressed number or a length and so many bytes
 *
 * Of the file a window slides over the bytes of a chunk: what was not decoded moves to its
 * front, and is filled up from the file. After the last byte there are zeros for as long as a
 * record, so that a decoder may load first and check then. All chunks but the last have the
 * length that the archive's anchor file states, and a header with the numbers of their first
 * and last event. That is what makes a damaged file readable: a chunk that cannot be read to
 * its end is left, reading goes on with the next one that has a sensible header, and the
 * numbers say how many events are missing in between. Nothing is believed of the file but what
 * its bytes can hold, every step goes forward, so reading ends; libotf2 goes round in circles
 * in files that were cut off, and reads past its buffers.
 *
 * Of a record the time is there only where it is another than before. Numbers are compressed:
 * how many bytes, then these; none for 0, and 255 in place of a length where all bits are set.
 * The oldest kinds of record that have a single number are just that; all others say how long
 * they are, so that what is not used, or not known, is stepped over. Loads are of eight bytes
 * and masked; whether a record had all its bytes is asked when it is done.
 *
 * Nearly all records are enter and leave: the loop is about them, everything else is behind a
 * call. Which way round the bytes are is a property of a chunk, so there is a loop for each.
 */
#include "trace/otf2/otf2_decode.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "trace/error_bounds.h"
#include "trace/otf2_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------- the file */

#define HEADER_BYTES 18u
#define CHUNK_HEADER 3u
#define LITTLE_ENDIAN_MARK 0x42u
#define BIG_ENDIAN_MARK 0x23u
#define MIN_EVENT_BYTES 2u        /* a type, and a length or a number */
#define WINDOW_BYTES (256u << 10) /* fits the second-level cache */

static uint64_t chunk_end(const struct otf2_file *f)
{
    return f->bytes - f->chunk_at < f->chunk_bytes ? f->bytes : f->chunk_at + f->chunk_bytes;
}

/* Fills the window, after the `kept` bytes at its front, with what follows in the chunk. A file
 * may have become shorter since, or a disk may fail: what is there is read. */
static void fill(struct otf2_file *f, size_t kept)
{
    uint64_t left = chunk_end(f) - f->loaded;
    size_t room = f->window_bytes - kept, want = left < room ? (size_t)left : room;
    size_t got = fs_read_at(f->fd, f->window + kept, want, f->loaded);

    if (got < want)
        f->bytes = f->loaded + got;
    f->loaded += got;
    f->at = f->window;
    f->end = f->window + kept + got;
    memset(f->window + kept + got, 0, OTF2_FILE_MAX_RECORD_BYTES);
    f->fill = f->loaded < chunk_end(f) ? f->end - OTF2_FILE_MAX_RECORD_BYTES : f->end;
}

static uint64_t header_number(const uint8_t *at, bool is_big_endian)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return is_big_endian ? __builtin_bswap64(value) : value;
}

/* Takes the event numbers of the chunk's header, if its bytes can hold as many. */
static bool take_numbers(struct otf2_file *f, const uint8_t header[HEADER_BYTES])
{
    uint64_t first = header_number(header + 2, f->is_big_endian);
    uint64_t n = header_number(header + 10, f->is_big_endian) + 1 - first;

    if (first == 0 || first > f->chunk_at / MIN_EVENT_BYTES + 1 ||
        n > f->chunk_bytes / MIN_EVENT_BYTES)
        return false;
    f->first = first;
    f->n_said = n;
    return true;
}

/* Goes into the chunk at f->chunk_at, if there is one. */
static bool enter_chunk(struct otf2_file *f)
{
    uint8_t header[HEADER_BYTES];

    if (chunk_end(f) - f->chunk_at < HEADER_BYTES ||
        fs_read_at(f->fd, header, HEADER_BYTES, f->chunk_at) < HEADER_BYTES ||
        header[0] != CHUNK_HEADER ||
        (header[1] != LITTLE_ENDIAN_MARK && header[1] != BIG_ENDIAN_MARK))
        return false;
    f->is_big_endian = header[1] == BIG_ENDIAN_MARK;
    if (!take_numbers(f, header)) {
        f->n_damaged++;
        f->first = f->next_event;
        f->n_said = 0;
    }
    if (f->first > f->next_event)
        f->n_lost += f->first - f->next_event;
    f->n_events = 0;
    f->loaded = f->chunk_at + HEADER_BYTES;
    fill(f, 0);
    return true;
}

/* The next chunk from f->chunk_at on that can be read, or the end of the file. */
static void find_chunk(struct otf2_file *f)
{
    bool is_skipping = false;

    while (f->chunk_at < f->bytes && !enter_chunk(f)) {
        is_skipping = true;
        f->chunk_at = chunk_end(f);
    }
    if (f->chunk_at < f->bytes) {
        f->n_damaged += is_skipping;
    } else {
        f->is_cut |= is_skipping;
        f->at = f->end = f->fill = NULL;
    }
}

/* Of a live analysis all files are open at once, and most of many are small. */
static void make_window(struct otf2_file *f)
{
    size_t bytes = f->bytes < WINDOW_BYTES ? (size_t)f->bytes : WINDOW_BYTES;

    bytes += OTF2_FILE_MAX_RECORD_BYTES;
    if (bytes <= f->window_bytes)
        return;
    f->window = mem_resize(f->window, bytes + OTF2_FILE_MAX_RECORD_BYTES, 1);
    f->window_bytes = bytes;
}

int otf2_file_open(struct otf2_file *f, const char *path, uint64_t chunk_bytes)
{
    uint8_t *window = f->window;
    size_t window_bytes = f->window_bytes;
    struct stat info;

    *f = (struct otf2_file){.fd = open(path, O_RDONLY | O_CLOEXEC),
                            .chunk_bytes = chunk_bytes,
                            .next_event = 1,
                            .window = window,
                            .window_bytes = window_bytes};
    if (f->fd < 0 || fstat(f->fd, &info) != 0)
        return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return err_set(ERR_IO, "cannot read '%s': not a file", path);
    f->bytes = (uint64_t)info.st_size;
    make_window(f);
    f->is_cut = f->bytes < HEADER_BYTES;
    find_chunk(f);
    return 0;
}

void otf2_file_close(struct otf2_file *f)
{
    if (f->fd > 0)
        close(f->fd);
    f->fd = -1;
}

void otf2_file_release(struct otf2_file *f)
{
    otf2_file_close(f);
    free(f->window);
    *f = (struct otf2_file){.fd = -1};
}

/* Go on to the next chunk. */
static void otf2_file_leave(struct otf2_file *f, enum otf2_file_end end)
{
    uint64_t next = f->first + (f->n_events > f->n_said ? f->n_events : f->n_said);
    bool is_short = chunk_end(f) - f->chunk_at < f->chunk_bytes; /* as the last one may be */
    bool is_cut = (end == OTF2_FILE_MARKED && is_short) ||
                  (end == OTF2_FILE_OVERRUN && chunk_end(f) == f->bytes);
    bool is_well = end == OTF2_FILE_MARKED || end == OTF2_FILE_LAST;

    if (f->n_events < f->n_said)
        f->n_lost += f->n_said - f->n_events;
    f->is_cut |= is_cut;
    f->n_damaged += !is_cut && (!is_well || f->n_events < f->n_said);
    if (next > f->next_event)
        f->next_event = next;
    f->chunk_at = chunk_end(f);
    find_chunk(f);
}

/*
 * Get more bytes of the chunk into memory, or go on to the next chunk where
 * this one has no more. Returns true when there is a record at `at`, false at the end.
 */
static bool otf2_file_fill(struct otf2_file *f)
{
    while (f->at >= f->fill) {
        size_t kept = (size_t)(f->end - f->at);

        if (f->at == NULL)
            return false;
        if (f->loaded < chunk_end(f)) {
            memmove(f->window, f->at, kept);
            fill(f, kept);
        } else {
            otf2_file_leave(f, OTF2_FILE_OVERRUN);
        }
    }
    return true;
}

/*
 * Whether the chunk has n bytes more from `at` on, be they in memory or not.
 * otf2_file_skip -- go on after these.
 */
static bool otf2_file_has(const struct otf2_file *f, uint64_t n)
{
    uint64_t here = (uint64_t)(f->end - f->at);

    return n <= here || n - here <= chunk_end(f) - f->loaded;
}

static void otf2_file_skip(struct otf2_file *f, uint64_t n)
{
    uint64_t here = (uint64_t)(f->end - f->at);

    if (n <= here) {
        f->at += n;
    } else {
        f->loaded += n - here;
        fill(f, 0);
    }
}

/* ------------------------------------------------------------------------------ its records */

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
static void take_access(struct otf2_events *r, uint8_t type, uint64_t time, struct contents *c)
{
    uint64_t bytes, id;

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
    if (type != RMA_PUT && type != RMA_GET)
        return;
    id = get_u64(c);
    if (!c->is_bad)
        otf2_events_copy(r, time, type == RMA_PUT, id);
}

static void take_complete(struct otf2_events *r, uint64_t time, struct contents *c)
{
    uint64_t id;

    get_u32(c); /* the window */
    id = get_u64(c);
    if (!c->is_bad)
        otf2_events_copied(r, time, id);
}

/* A record that is no event: of some it is counted what they say. */
static void take_counted(struct otf2_events *r, uint8_t type, uint64_t time, struct contents *c)
{
    switch (type) {
    case RMA_PUT:
    case RMA_GET:
    case RMA_ATOMIC:
    case IO_OPERATION_COMPLETE:
        take_access(r, type, time, c);
        break;
    case RMA_OP_COMPLETE_BLOCKING:
    case RMA_OP_COMPLETE_NON_BLOCKING:
        take_complete(r, time, c);
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
            take_counted(r, type, time, c);
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
            error_bounds_join(&r->batch->error_bounds, value.uint64);
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
