/*
 * A frame says what it is about by numbers of its process; the sender's tables turn them into
 * those of the definitions. Sizes are checked against the bytes there are, never believed.
 */
#include "trace/tracer/tracer_frame.h"

#include "base/err.h"
#include "base/mem.h"
#include "trace/event.h"
#include "trace/monotone.h"
#include "trace/tracer/tracer_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 65536u
#define MAX_REGIONS (1u << 18)        /* with different names, of all processes together */
#define MAX_SENT (1u << 20)           /* regions of one connection */
#define MAX_COMMS 16384u              /* as many as the tracer tells, communicators.h */
#define MAX_MEMBERS ((size_t)1 << 24) /* of all communicators together */
#define MAX_COUNTERS 1024u
#define MAX_OBJECTS 16384u /* of one connection */
#define MAX_TEXT_BYTES ((size_t)64 << 20)
#define SHORTEST_INTERVAL_NS 1000000u
#define LONGEST_INTERVAL_NS 60000000000u
#define SAME_CLOCK_NS 1000000000u /* two clocks that differ by less are one */
#define FUTURE_NS 60000000000u

/* The sorts of collectives are taken as they come. */
_Static_assert((int)TRACER_SORT_BARRIER == COLLECTIVE_BARRIER &&
                   (int)TRACER_SORT_ALL_FOR_ALL == COLLECTIVE_ALL_TO_ALL &&
                   (int)TRACER_SORT_ONE_FOR_ALL == COLLECTIVE_ONE_TO_ALL &&
                   (int)TRACER_SORT_ALL_FOR_ONE == COLLECTIVE_ALL_TO_ONE &&
                   (int)TRACER_SORT_OTHER == COLLECTIVE_OTHER,
               "a sort is a collective_kind");

/* A frame that is being read. */
struct frame_reading {
    struct tracer_run *run;
    struct tracer_sender *from;
    struct pack in;
    uint64_t now_ns;
};

void tracer_sender_release(struct tracer_sender *sender)
{
    free(sender->region);
    free(sender->comm);
    free(sender->counter);
    free(sender->object);
    free(sender->open);
    *sender = (struct tracer_sender){0};
}

static uint32_t u32_at(const unsigned char *data)
{
    uint32_t value;

    memcpy(&value, data, sizeof value);
    return value;
}

static int no_frames(const unsigned char *data, size_t known)
{
    if (known == TRACER_MAGIC_SIZE && memcmp(data, TRACER_MAGIC, known - 1) == 0)
        return err_set(
            ERR_FORMAT,
            "these are frames of the tracer, version %u, not %d: it is of another snag",
            data[3], TRACER_MAGIC[3]);
    return err_set(ERR_FORMAT, "these are no frames of the tracer, version %d",
                   TRACER_MAGIC[3]);
}

int tracer_frame_size(const unsigned char *data, size_t n, size_t *size)
{
    size_t known = n < TRACER_MAGIC_SIZE ? n : TRACER_MAGIC_SIZE, payload;

    *size = 0;
    if (known > 0 && memcmp(data, TRACER_MAGIC, known) != 0)
        return no_frames(data, known);
    if (n < TRACER_HEADER_SIZE)
        return 0;
    payload = u32_at(data + 8);
    if (payload > TRACER_MAX_PAYLOAD_BYTES)
        return err_set(ERR_FORMAT, "a frame announces %zu bytes", payload);
    *size = TRACER_HEADER_SIZE + payload;
    return 0;
}

/* ---------------------------------------------------------------------------- definitions */

static void add_metadata(struct frame_reading *r, const char *key, const char *value)
{
    definitions_metadata(&r->run->defs,
                         &(struct metadata){.rank = r->from->rank, .key = key, .value = value});
}

static void begin_run(struct tracer_run *run, const struct tracer_sender *from,
                      uint64_t start_ns)
{
    if (run->is_begun)
        return;
    run->is_begun = true;
    run->origin_ns = start_ns - start_ns % from->interval_ns;
    run->defs.has_wall_time = true;
    run->defs.wall_time_ns = run->origin_ns - from->shift_ns + from->wall_ns;
}

static uint64_t shift_of(uint64_t theirs_ns, uint64_t ours_ns)
{
    uint64_t shift = ours_ns - theirs_ns;

    return shift + SAME_CLOCK_NS < 2 * (uint64_t)SAME_CLOCK_NS ? 0 : shift;
}

int tracer_frame_hello(const unsigned char *frame, size_t size, struct tracer_hello *hello)
{
    struct pack in = {
        .data = (unsigned char *)(uintptr_t)frame, .n = size, .at = TRACER_HEADER_SIZE};
    struct tracer_process *who = &hello->who;

    if (u32_at(frame + 4) != TRACER_FRAME_HELLO)
        return tracer_bytes_bad("a kind that cannot come first");
    *hello = (struct tracer_hello){.now_ns = unpack_u64(&in)};
    who->start_ns = unpack_u64(&in);
    hello->wall_ns = unpack_u64(&in);
    hello->interval_ns = tracer_bytes_number(&in);
    who->n_ranks = tracer_bytes_below(&in, TRACER_MAX_RANKS + 1);
    who->rank = tracer_bytes_below(&in, who->n_ranks);
    who->pid = tracer_bytes_below(&in, UINT32_MAX);
    tracer_bytes_text(&in, hello->host);
    tracer_bytes_text(&in, hello->program);
    who->job = in.at < in.n ? unpack_u64(&in) : 0; /* the first tracers did not say it */
    if (in.is_bad || in.at < in.n || hello->interval_ns < SHORTEST_INTERVAL_NS ||
        hello->interval_ns > LONGEST_INTERVAL_NS)
        return tracer_bytes_bad("an impossible hello");
    return 0;
}

static int take_hello(struct frame_reading *r)
{
    struct tracer_sender *from = r->from;
    struct tracer_hello hello;
    uint64_t start_ns;
    char pid[24];

    if (from->is_known || tracer_frame_hello(r->in.data, r->in.n, &hello) < 0)
        return tracer_bytes_bad("an impossible hello");
    from->shift_ns = shift_of(hello.now_ns, r->now_ns);
    start_ns = hello.who.start_ns + from->shift_ns;
    if (time_before(r->now_ns, start_ns))
        return tracer_bytes_bad("an impossible hello");
    from->wall_ns = hello.wall_ns;
    from->interval_ns = hello.interval_ns;
    from->rank = hello.who.rank;
    from->is_known = true;
    begin_run(r->run, from, start_ns);
    if (!tracer_run_meet(r->run, &hello.who))
        return 0; /* it was here before */
    snprintf(pid, sizeof pid, "%u", hello.who.pid);
    add_metadata(r, "Hostname", hello.host);
    add_metadata(r, "PID", pid);
    add_metadata(r, "Executable", hello.program);
    return 0;
}

static bool has_room_for(struct tracer_run *run, const char *name, const struct names *names,
                         uint32_t most)
{
    return names_find(names, name) != NAMES_NONE ||
           (names->n < most && run->n_text + strlen(name) <= MAX_TEXT_BYTES);
}

static uint32_t region_named(struct tracer_run *run, const char *name)
{
    uint32_t n_before = run->defs.names.n, region;

    if (!has_room_for(run, name, &run->defs.names, MAX_REGIONS)) {
        run->quality->n[QUALITY_bad_definition]++;
        name = "(undefined region)";
    }
    region = definitions_region(&run->defs, name);
    if (run->defs.names.n > n_before)
        run->n_text += strlen(name);
    return region;
}

static int take_regions(struct frame_reading *r)
{
    struct tracer_sender *from = r->from;
    char name[TRACER_LONGEST_TEXT + 1];

    if (tracer_bytes_number(&r->in) != from->n_regions)
        return tracer_bytes_bad("regions out of order");
    while (!r->in.is_bad && r->in.at < r->in.n) {
        bool is_mpi = tracer_bytes_below(&r->in, 2);
        uint32_t region;

        tracer_bytes_text(&r->in, name);
        if (r->in.is_bad || from->n_regions >= MAX_SENT)
            break;
        region = region_named(r->run, name);
        if (is_mpi)
            r->run->defs.region[region].kind = REGION_MPI;
        *mem_push(&from->region, &from->n_regions, &from->region_cap) = region;
    }
    return r->in.is_bad || r->in.at < r->in.n ? tracer_bytes_bad("a bad region") : 0;
}

/* The members of a new communicator. */
static void read_members(struct pack *in, struct comm *comm)
{
    for (uint32_t i = 0; i < comm->n_members; i++)
        comm->member[i] = tracer_bytes_below(in, TRACER_MAX_RANKS);
}

static void skip_members(struct pack *in, uint32_t n)
{
    while (n-- > 0 && !in->is_bad)
        tracer_bytes_below(in, TRACER_MAX_RANKS);
}

static uint32_t take_comm(struct frame_reading *r)
{
    struct tracer_run *run = r->run;
    uint32_t first = tracer_bytes_below(&r->in, TRACER_MAX_RANKS),
             no = tracer_bytes_below(&r->in, UINT32_MAX);
    bool is_self = tracer_bytes_below(&r->in, 2);
    char name[TRACER_LONGEST_TEXT + 1];
    uint32_t n = (tracer_bytes_text(&r->in, name),
                  tracer_bytes_below(&r->in, TRACER_MAX_RANKS + 1)),
             at;
    struct key key = is_self ? key_pair(UINT64_MAX, 0) : key_pair(first, no);

    if (r->in.is_bad || n > r->in.n - r->in.at) {
        r->in.is_bad = true;
        return NO_COMM;
    }
    at = idmap_find(&run->comm, key);
    if (at == IDMAP_NONE && run->comm.n < MAX_COMMS && run->n_members + n <= MAX_MEMBERS) {
        run->n_members += n;
        at = definitions_comm(&run->defs, name, n);
        idmap_add(&run->comm, key);
        run->defs.comm[at].is_self = is_self;
        read_members(&r->in, &run->defs.comm[at]);
        return at;
    }
    if (at == IDMAP_NONE || run->defs.comm[at].n_members != n)
        run->quality->n[QUALITY_bad_definition]++;
    skip_members(&r->in, n);
    return at == IDMAP_NONE ? NO_COMM : at;
}

static int take_comms(struct frame_reading *r)
{
    struct tracer_sender *from = r->from;

    if (tracer_bytes_number(&r->in) != from->n_comms)
        return tracer_bytes_bad("communicators out of order");
    while (!r->in.is_bad && r->in.at < r->in.n && from->n_comms < MAX_COMMS) {
        uint32_t comm = take_comm(r);

        *mem_push(&from->comm, &from->n_comms, &from->comm_cap) = comm;
    }
    return r->in.is_bad || r->in.at < r->in.n ? tracer_bytes_bad("a bad communicator") : 0;
}

static int take_counters(struct frame_reading *r)
{
    struct tracer_sender *from = r->from;
    struct names *names = &r->run->defs.counters;
    char name[TRACER_LONGEST_TEXT + 1];

    if (tracer_bytes_number(&r->in) != from->n_counters)
        return tracer_bytes_bad("counters out of order");
    while (r->in.at < r->in.n) {
        tracer_bytes_text(&r->in, name);
        if (r->in.is_bad || from->n_counters >= MAX_COUNTERS ||
            !has_room_for(r->run, name, names, MAX_COUNTERS))
            return tracer_bytes_bad("a bad counter");
        *mem_push(&from->counter, &from->n_counters, &from->counter_cap) =
            names_add(names, name);
    }
    return r->in.is_bad ? tracer_bytes_bad("a bad counter") : 0;
}

/* NO_COMM if the definitions have no room for it, which was counted. */
static uint32_t read_comm(struct frame_reading *r)
{
    uint64_t id = tracer_bytes_number(&r->in);

    if (id >= r->from->n_comms) {
        r->in.is_bad = true;
        return NO_COMM;
    }
    return r->from->comm[id];
}

/* The number of an object of a kind. */
static void read_object_of(struct frame_reading *r, enum tracer_object kind)
{
    uint64_t id = tracer_bytes_number(&r->in);

    if (id >= r->from->n_objects || r->from->object[id] != kind)
        r->in.is_bad = true;
}

/* What is behind a window or a file is looked at, and not kept. */
static void read_object(struct frame_reading *r, enum tracer_object kind)
{
    char name[TRACER_LONGEST_TEXT + 1];

    switch (kind) {
    case TRACER_GROUP:
        skip_members(&r->in, tracer_bytes_below(&r->in, TRACER_MAX_RANKS + 1));
        break;
    case TRACER_FILE:
        tracer_bytes_text(&r->in, name);
        break;
    case TRACER_HANDLE:
        read_comm(r);
        read_object_of(r, TRACER_FILE);
        break;
    default:
        read_comm(r);
    }
}

static int take_objects(struct frame_reading *r)
{
    struct tracer_sender *from = r->from;

    if (tracer_bytes_number(&r->in) != from->n_objects)
        return tracer_bytes_bad("windows or files out of order");
    while (!r->in.is_bad && r->in.at < r->in.n && from->n_objects < MAX_OBJECTS) {
        uint32_t kind = tracer_bytes_below(&r->in, TRACER_OBJECTS);

        read_object(r, (enum tracer_object)kind);
        *mem_push(&from->object, &from->n_objects, &from->object_cap) = (unsigned char)kind;
    }
    return r->in.is_bad || r->in.at < r->in.n ? tracer_bytes_bad("a bad window or file") : 0;
}

/* --------------------------------------------------------------------------------- events */

static uint32_t read_region(struct frame_reading *r)
{
    uint64_t id = tracer_bytes_number(&r->in);

    if (id >= r->from->n_regions) {
        r->in.is_bad = true;
        return 0;
    }
    return r->from->region[id];
}

static void take_message(struct frame_reading *r, struct tracer_location *location,
                         uint64_t time_ns, enum tracer_record_kind kind)
{
    struct tracer_message m = {.comm = read_comm(r),
                               .peer = tracer_bytes_below(&r->in, TRACER_MAX_RANKS),
                               .tag = tracer_bytes_below(&r->in, UINT32_MAX),
                               .bytes = tracer_bytes_number(&r->in)};

    m.kind =
        kind == TRACER_RECORD_SEND || kind == TRACER_RECORD_ISEND ? MESSAGE_SEND : MESSAGE_RECV;
    m.has_request = kind == TRACER_RECORD_ISEND || kind == TRACER_RECORD_IRECV;
    if (m.has_request)
        m.request = tracer_bytes_number(&r->in);
    if (r->in.is_bad)
        return;
    if (m.comm == NO_COMM)
        r->run->quality->n[QUALITY_undefined_comm]++;
    else if (!tracer_location_message(r->run, location, time_ns, &m))
        r->run->quality->n[QUALITY_bad_value]++;
}

static void take_collective(struct frame_reading *r, struct tracer_location *location,
                            uint64_t time_ns, bool has_request)
{
    struct tracer_collective c = {.kind = tracer_bytes_below(&r->in, TRACER_SORTS),
                                  .comm = read_comm(r)};
    uint64_t root =
        tracer_bytes_number(&r->in); /* that there is none may be said by any number */

    c.root = root < TRACER_MAX_RANKS ? (uint32_t)root : NO_ROOT;
    c.sent_bytes = tracer_bytes_number(&r->in);
    c.received_bytes = tracer_bytes_number(&r->in);
    c.has_request = has_request;
    if (has_request)
        c.request = tracer_bytes_number(&r->in);
    if (r->in.is_bad)
        return;
    if (c.comm == NO_COMM)
        r->run->quality->n[QUALITY_undefined_comm]++;
    else
        tracer_location_collective(r->run, location, time_ns, &c);
}

static void take_counter(struct frame_reading *r, struct tracer_location *location,
                         uint64_t time_ns)
{
    uint64_t id = tracer_bytes_number(&r->in), value = tracer_bytes_number(&r->in);

    if (id >= r->from->n_counters)
        r->in.is_bad = true;
    if (!r->in.is_bad)
        tracer_location_counter(r->run, location, time_ns, r->from->counter[id],
                                (int64_t)(value >> 1) ^ -(int64_t)(value & 1));
}

static void take_request(struct frame_reading *r, struct tracer_location *location,
                         uint64_t time_ns, enum tracer_record_kind kind)
{
    uint64_t request = tracer_bytes_number(&r->in);
    struct posted_request cancelled;

    if (r->in.is_bad)
        return;
    if (kind == TRACER_RECORD_ICOLLECTIVE_REQUEST)
        tracer_location_starts(r->run, location, time_ns, request);
    else if (kind == TRACER_RECORD_IRECV_REQUEST)
        tracer_location_post(r->run, location, time_ns, request);
    else if (kind == TRACER_RECORD_ISEND_COMPLETE)
        tracer_location_sent(r->run, location, time_ns, request);
    else
        requests_take(&location->requests, request, &cancelled);
}

static void take_estimate(struct frame_reading *r, struct tracer_location *location,
                          uint64_t time_ns, bool is_leave)
{
    uint64_t off_ns = tracer_bytes_number(&r->in);

    if (!r->in.is_bad)
        r->in.is_bad = !tracer_location_estimate(r->run, location, time_ns, is_leave, off_ns);
}

static void take_enter(struct frame_reading *r, struct tracer_location *location,
                       uint64_t time_ns, bool is_estimated)
{
    uint32_t region = read_region(r);

    if (r->in.is_bad)
        return;
    tracer_location_enter(r->run, location, time_ns, region);
    if (is_estimated)
        take_estimate(r, location, time_ns, false);
}

/* It is counted what is transferred: nothing else is made of these, of an archive neither. */
static void take_access(struct frame_reading *r, enum tracer_record_kind kind)
{
    uint64_t sent, received;

    /* Of which object a record is. */
    if (kind == TRACER_RECORD_WINDOW_BEGIN)
        tracer_bytes_below(&r->in, 1); /* of none */
    else if (kind == TRACER_RECORD_FILE_DELETE)
        read_object_of(r, TRACER_FILE);
    else
        read_object_of(r, kind < TRACER_RECORD_FILE_OPEN ? TRACER_WINDOW : TRACER_HANDLE);
    if (kind == TRACER_RECORD_GROUP_SYNC)
        read_object_of(r, TRACER_GROUP);
    else
        tracer_bytes_number(&r->in); /* the rank, or all; the mode of a file */
    tracer_bytes_number(&r->in);     /* how */
    tracer_bytes_number(&r->in);     /* which */
    sent = tracer_bytes_number(&r->in);
    received = tracer_bytes_number(&r->in);
    if (r->in.is_bad)
        return;
    if (kind == TRACER_RECORD_IO_COMPLETE)
        accesses_operation(&r->run->accesses, sent);
    else if (kind == TRACER_RECORD_PUT)
        accesses_transfer(&r->run->accesses, sent);
    else if (kind == TRACER_RECORD_GET)
        accesses_transfer(&r->run->accesses, received);
    else if (kind == TRACER_RECORD_ATOMIC)
        accesses_transfer(&r->run->accesses, sent + received);
}

static void take_record(struct frame_reading *r, struct tracer_location *location,
                        enum tracer_record_kind kind)
{
    uint64_t time_ns = location->clock_ns;

    switch (kind) {
    case TRACER_RECORD_ENTER:
    case TRACER_RECORD_ENTER_ESTIMATED:
        take_enter(r, location, time_ns, kind == TRACER_RECORD_ENTER_ESTIMATED);
        break;
    case TRACER_RECORD_LEAVE_ESTIMATED:
        take_estimate(r, location, time_ns, true);
        /* fall through */
    case TRACER_RECORD_LEAVE:
        r->in.is_bad |= !tracer_location_leave(r->run, location, time_ns);
        break;
    case TRACER_RECORD_SEND:
    case TRACER_RECORD_RECV:
    case TRACER_RECORD_ISEND:
    case TRACER_RECORD_IRECV:
        take_message(r, location, time_ns, kind);
        break;
    case TRACER_RECORD_ISEND_COMPLETE:
    case TRACER_RECORD_IRECV_REQUEST:
    case TRACER_RECORD_CANCELLED:
    case TRACER_RECORD_ICOLLECTIVE_REQUEST:
        take_request(r, location, time_ns, kind);
        break;
    case TRACER_RECORD_COLLECTIVE_BEGIN:
        location->collective_ns = time_ns;
        location->is_in_collective = true;
        break;
    case TRACER_RECORD_COLLECTIVE_END:
    case TRACER_RECORD_ICOLLECTIVE:
        take_collective(r, location, time_ns, kind == TRACER_RECORD_ICOLLECTIVE);
        break;
    case TRACER_RECORD_COUNTER:
        take_counter(r, location, time_ns);
        break;
    default:
        take_access(r, kind);
    }
}

/* The calls that are open when the frame begins, the outermost first. */
static size_t read_open(struct frame_reading *r, uint64_t begin_ns)
{
    struct tracer_sender *from = r->from;
    uint64_t n = tracer_bytes_number(&r->in), enter_ns = begin_ns;

    if (n > (r->in.n - r->in.at) / 2)
        r->in.is_bad = true;
    if (r->in.is_bad)
        return 0;
    mem_grow(&from->open, &from->open_cap, (size_t)n);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t region = read_region(r);
        uint64_t since = tracer_bytes_number(&r->in);

        enter_ns = i == 0 ? begin_ns - since : enter_ns + since;
        if (since > begin_ns || enter_ns > begin_ns)
            r->in.is_bad = true;
        from->open[i] = (struct tracer_call){region, enter_ns + from->shift_ns};
    }
    return (size_t)n;
}

/* The kind that the head has, or more. */
static enum tracer_record_kind read_kind(struct frame_reading *r, uint64_t kind)
{
    if (kind == TRACER_RECORD_MORE)
        kind += tracer_bytes_below(&r->in, TRACER_RECORDS - TRACER_RECORD_MORE);
    return (enum tracer_record_kind)kind;
}

static void read_records(struct frame_reading *r, struct tracer_location *location)
{
    uint64_t latest_ns = r->now_ns + FUTURE_NS;

    while (!r->in.is_bad && r->in.at < r->in.n) {
        uint64_t head = tracer_bytes_number(&r->in), since = head >> 4;

        if (since > FUTURE_NS * 60 * 24 * 365 ||
            time_before(latest_ns, location->clock_ns + since)) {
            r->in.is_bad = true;
            return;
        }
        location->clock_ns += since;
        take_record(r, location, read_kind(r, head & 15));
    }
}

static int take_events(struct frame_reading *r)
{
    uint32_t thread = tracer_bytes_below(&r->in, MAX_THREADS);
    uint64_t n_lost = tracer_bytes_number(&r->in), begin_ns = unpack_u64(&r->in);
    size_t n_open = read_open(r, begin_ns);
    struct tracer_location *location;

    begin_ns += r->from->shift_ns;
    if (r->in.is_bad || time_before(r->now_ns + FUTURE_NS, begin_ns))
        return tracer_bytes_bad("an impossible begin");
    location = tracer_run_location(r->run, r->from->rank, thread);
    if (location == NULL)
        return tracer_bytes_bad("one location too many");
    if (time_before(begin_ns, location->clock_ns))
        r->run->quality->n[QUALITY_time_backwards]++;
    if (n_lost > 0)
        tracer_location_forget_requests(r->run, location);
    r->run->n_lost += n_lost;
    tracer_location_settle(r->run, location, r->from->open, n_open);
    location->clock_ns = begin_ns;
    read_records(r, location);
    return r->in.is_bad ? tracer_bytes_bad("a bad record") : 0;
}

static int take_tick(struct frame_reading *r)
{
    uint64_t until_ns = unpack_u64(&r->in) + r->from->shift_ns;

    if (r->in.is_bad || r->in.at < r->in.n || time_before(r->now_ns + FUTURE_NS, until_ns))
        return tracer_bytes_bad("a bad tick");
    if (time_before(r->from->until_ns, until_ns))
        r->from->until_ns = until_ns;
    return 0;
}

int tracer_frame_take(struct tracer_run *run, struct tracer_sender *from,
                      const unsigned char *frame, size_t size, uint64_t now_ns)
{
    struct frame_reading r = {run, from, {.data = (unsigned char *)frame, .n = size}, now_ns};
    unsigned kind = frame[4];

    r.in.at = TRACER_HEADER_SIZE;
    if (u32_at(frame + 4) > 255 || from->is_done ||
        (kind != TRACER_FRAME_HELLO && !from->is_known))
        return tracer_bytes_bad("a kind that cannot come now");
    switch (kind) {
    case TRACER_FRAME_HELLO:
        return take_hello(&r);
    case TRACER_FRAME_REGIONS:
        return take_regions(&r);
    case TRACER_FRAME_COMMS:
        return take_comms(&r);
    case TRACER_FRAME_COUNTERS:
        return take_counters(&r);
    case TRACER_FRAME_OBJECTS:
        return take_objects(&r);
    case TRACER_FRAME_EVENTS:
        return take_events(&r);
    case TRACER_FRAME_TICK:
        return take_tick(&r);
    case TRACER_FRAME_BYE:
        if (r.in.n > TRACER_HEADER_SIZE)
            return tracer_bytes_bad("a goodbye that says something");
        from->is_done = true;
        return 0;
    default:
        return tracer_bytes_bad("an unknown kind");
    }
}

void tracer_frame_refusal(struct pack *to, const char *why)
{
    size_t begin = to->n, length = strlen(why);
    uint32_t payload;

    length = length < TRACER_LONGEST_TEXT ? length : TRACER_LONGEST_TEXT;
    pack_bytes(to, TRACER_MAGIC, TRACER_MAGIC_SIZE);
    pack_u32(to, TRACER_FRAME_REFUSED);
    pack_u32(to, 0);
    pack_varint(to, length);
    pack_bytes(to, why, length);
    payload = (uint32_t)(to->n - begin - TRACER_HEADER_SIZE);
    memcpy(to->data + begin + 8, &payload, sizeof payload);
}
