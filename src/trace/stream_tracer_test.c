/*
 * The stream and the processes that talk to it are one thread here: each sends what fits the
 * socket, then the stream is asked. Ticks are of 100 ms.
 */
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/test.h"
#include "trace/sample_frames.h"
#include "trace/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000u
#define TICK_NS ((uint64_t)100 * MS)

static char directory[] = "stream_tracer_XXXXXX";
static char path[64], url[80];

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A process of the program. */
struct rank {
    int fd;
    struct pack out;
    uint64_t start_ns; /* a multiple of a tick: time 0 of the trace */
};

static struct stream *open_stream(struct stream *stream)
{
    /* the socket may be that of a test that failed */
    struct stream_opts opts = {.connect_ms = 5000, .wants_counters = true};

    unlink(path);
    assert_int_equal(stream_open(stream, url, &opts), 0);
    assert_string_equal(stream->ops->name, "tracer");
    return stream;
}

static int connect_to(const char *to)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, to);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static struct rank come_late(uint32_t rank, uint32_t n_ranks, uint64_t since_ns)
{
    uint64_t now = now_ns();
    struct rank r = {.fd = connect_to(path), .start_ns = now - now % TICK_NS - since_ns};

    frame_hello(&r.out, rank, n_ranks, now, r.start_ns, TICK_NS);
    frame_definitions(&r.out, n_ranks);
    return r;
}

static struct rank come(uint32_t rank, uint32_t n_ranks)
{
    return come_late(rank, n_ranks, 0);
}

/* Send what is packed, while the stream reads. */
static int talk(struct stream *stream, struct rank *r)
{
    size_t at = 0;
    int state = STREAM_IDLE;

    while (at < r->out.n && state == STREAM_IDLE) {
        ssize_t n = send(r->fd, r->out.data + at, r->out.n - at, MSG_DONTWAIT | MSG_NOSIGNAL);

        at += n > 0 ? (size_t)n : 0;
        if (n < 0 && errno != EAGAIN)
            break;
        state = stream_next(stream, 0);
    }
    r->out.n = 0;
    return state;
}

static void go(struct rank *r)
{
    close(r->fd);
    pack_release(&r->out);
}

static int wait_for_step(struct stream *stream)
{
    int state;

    while ((state = stream_next(stream, 100)) == STREAM_IDLE)
        ;
    return state;
}

/* The kinds of the events of the next part, a letter each, and what it refers to of calls. */
static const char *letters(struct stream *stream, struct stream_part *p)
{
    static char text[256];
    size_t n = 0;

    if (!stream_part(stream, p))
        return "";
    for (size_t i = p->begin; i < p->end; i++) {
        const struct event *event = &p->batch->event[i];

        text[n++] = "(),s|#"[event->kind];
        if (event->kind <= EVENT_LEAVE)
            text[n++] = stream->defs->region[event->ref].name[0];
    }
    text[n] = '\0';
    return text;
}

/* ---------------------------------------------------------------------------------- tests */

static void send_all_kinds(struct pack *to)
{
    static const struct {
        enum sample_record kind;
        uint64_t number[6];
        int n;
    } record[] = {
        {RECORD_ENTER, {0}, 1},
        {RECORD_ENTER, {2}, 1},
        {RECORD_SEND, {0, 1, 9, 300}, 4},
        {RECORD_LEAVE, {0}, 0},
        {RECORD_IRECV_REQUEST, {71}, 1},
        {RECORD_ISEND, {1, 0, 8, 1u << 20, 70}, 5},
        {RECORD_RECV, {0, 1, 7, 0}, 4},
        {RECORD_IRECV, {0, 1, 6, 5, 71}, 5},
        {RECORD_ISEND_COMPLETE, {70}, 1},
        {RECORD_CANCELLED, {12345}, 1},
        {RECORD_COLLECTIVE_BEGIN, {0}, 0},
        {RECORD_COLLECTIVE_END, {1, 0, 4294967295u, 8, 16}, 5},
        {RECORD_COUNTER, {0, 2 * 77 - 1}, 2}, /* -77 */
        {RECORD_LEAVE, {0}, 0},
    };

    for (size_t i = 0; i < sizeof record / sizeof record[0]; i++) {
        frame_record(to, record[i].kind, 100);
        for (int k = 0; k < record[i].n; k++)
            pack_varint(to, record[i].number[k]);
    }
}

static void check_messages(const struct event_batch *b)
{
    assert_int_equal(b->n_messages, 4);
    assert_int_equal(b->message[0].kind, MESSAGE_SEND);
    assert_int_equal(b->message[0].peer, 1);
    assert_int_equal(b->message[0].tag, 9);
    assert_int_equal(b->message[0].bytes, 300);
    assert_int_equal(b->message[0].order, 0);
    assert_int_equal(b->message[1].peer, 0); /* to itself, through MPI_COMM_SELF */
    assert_int_equal(b->message[1].bytes, 1u << 20);
    assert_int_equal(b->message[2].kind, MESSAGE_RECV);
    assert_int_equal(b->message[3].tag, 6);
    assert_int_equal(b->message[3].order, 1); /* posted before the send of 1 MiB */
    assert_true(b->message[3].begin_ns < b->message[1].begin_ns);
}

static void every_record_comes_through(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank r;

    (void)state;
    open_stream(&stream);
    r = come(0, 2);
    frame_events(&r.out, 3, 0, r.start_ns + 1000, 0, 0);
    send_all_kinds(&r.out);
    frame_close(&r.out);
    talk(&stream, &r);
    go(&r);
    assert_int_equal(wait_for_step(&stream), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(m(M,)M,,,s|#)m");
    assert_int_equal(p.batch->event[0].time_ns, 1100);
    assert_int_equal(p.batch->event[p.end - 1].time_ns, 1000 + 14 * 100);
    check_messages(p.batch);
    assert_int_equal(p.batch->event[7].ref, 1); /* the second message, which was sent */
    assert_int_equal(p.batch->collective[0].kind, COLLECTIVE_ALL_TO_ALL);
    assert_int_equal(p.batch->collective[0].begin_ns, 2100);
    assert_int_equal(p.batch->collective[0].received_bytes, 16);
    assert_int_equal(p.batch->counter[0].whole, -77);
    assert_string_equal(stream.defs->counters.name[0], "memory");
    assert_int_equal(stream.defs->location[p.location].rank, 0);
    assert_int_equal(stream.defs->location[p.location].thread, 3);
    assert_string_equal(stream.defs->metadata[0].value, "node7");
    assert_string_equal(stream.defs->metadata[1].value, "4711");
    assert_int_equal(stream.defs->region[2].kind, REGION_MPI);
    assert_false(stream_part(&stream, &p));
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    stream_close(&stream);
}

static void the_example_of_the_page_is_right(void **state)
{
    static const unsigned char example[] = {
        0x53, 0x4e, 0x54, 0x01, 0x05, 0, 0, 0,    0x12, 0,    0,    0,    0,    0,    0,
        0xca, 0x9a, 0x3b, 0,    0,    0, 0, 0x01, 0x00, 0xe8, 0x07, 0x00, 0x02, 0xc1, 0x02};
    struct pack frame = {0};

    (void)state;
    frame_events(&frame, 0, 0, 1000000000, 1, 1000000000 - 1000);
    frame_record(&frame, RECORD_ENTER, 0);
    pack_varint(&frame, 2);
    frame_record(&frame, RECORD_LEAVE, 20);
    frame_close(&frame);
    assert_int_equal(frame.n, sizeof example);
    assert_memory_equal(frame.data, example, sizeof example);
    pack_release(&frame);
}

/* One call of step, at a time in ticks. */
static void send_step(struct rank *r, double at)
{
    uint64_t time_ns = r->start_ns + (uint64_t)(at * TICK_NS);

    frame_events(&r->out, 0, 0, time_ns, 0, 0);
    frame_record(&r->out, RECORD_ENTER, 0);
    pack_varint(&r->out, 1);
    frame_record(&r->out, RECORD_LEAVE, 10);
    frame_close(&r->out);
}

static void a_step_waits_for_all_ranks(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come(0, 2);
    b = come(1, 2);
    b.start_ns = a.start_ns;
    send_step(&a, 200.5); /* so late that nobody's patience ends */
    send_step(&a, 201.5);
    frame_tick(&a.out, a.start_ns + 202 * TICK_NS);
    assert_int_equal(talk(&stream, &a), STREAM_IDLE);
    send_step(&b, 200.25);
    assert_int_equal(talk(&stream, &b), STREAM_IDLE);
    frame_tick(&b.out, a.start_ns + 201 * TICK_NS);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    assert_int_equal(stream.begin_ns, 200 * TICK_NS);
    assert_int_equal(stream.end_ns, 201 * TICK_NS);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(p.batch->event[p.begin].time_ns, 200 * TICK_NS + TICK_NS / 2);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(p.batch->event[p.begin].time_ns, 200 * TICK_NS + TICK_NS / 4);
    assert_false(stream_part(&stream, &p));
    assert_int_equal(stream_next(&stream, 0), STREAM_IDLE);
    frame_tick(&b.out, a.start_ns + 202 * TICK_NS);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    assert_int_equal(stream.begin_ns, 201 * TICK_NS);
    go(&a);
    go(&b);
    stream_close(&stream);
}

/* A rank that is stopped holds the others up for a while only; what it says later is not lost.
 */
static void a_rank_that_says_nothing_is_not_waited_for(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come_late(0, 2, 100 * TICK_NS);
    b = come_late(1, 2, 100 * TICK_NS);
    b.start_ns = a.start_ns;
    send_step(&a, 1);
    talk(&stream, &b);
    assert_int_equal(talk(&stream, &a), STREAM_STEP);
    send_step(&b, 0.5);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(stream.defs->location[p.location].rank, 1);
    go(&a);
    go(&b);
    stream_close(&stream);
}

/*
 *   said first    main  step  step          open
 *   lost
 *   said next     main  step' step' step'   is open where the frame begins
 */
static void after_a_gap_the_stack_is_right(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank r;

    (void)state;
    open_stream(&stream);
    r = come(0, 1);
    frame_events(&r.out, 0, 0, r.start_ns + 500, 0, 0);
    for (int i = 0; i < 3; i++) {
        frame_record(&r.out, RECORD_ENTER, 100);
        pack_varint(&r.out, i > 0);
    }
    frame_close(&r.out);
    frame_events(&r.out, 0, 1000, r.start_ns + 5000, 1, r.start_ns + 600);
    frame_record(&r.out, RECORD_ENTER, 0);
    pack_varint(&r.out, 2);
    frame_close(&r.out);
    frame_tick(&r.out, r.start_ns + TICK_NS);
    assert_int_equal(talk(&stream, &r), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(m(s(s)s)s(M");
    assert_int_equal(p.batch->event[3].time_ns, 800); /* the last that was known */
    assert_int_equal(p.batch->event[5].time_ns, 5000);
    assert_int_equal(stream.n_lost, 1000);
    frame_events(&r.out, 0, 7, r.start_ns + TICK_NS + 900, 3, r.start_ns + TICK_NS + 100);
    frame_record(&r.out, RECORD_LEAVE, 0);
    frame_close(&r.out);
    frame_tick(&r.out, r.start_ns + 2 * TICK_NS);
    assert_int_equal(talk(&stream, &r), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), ")M)m(m(s(s)s");
    assert_int_equal(p.batch->event[p.begin + 2].time_ns, TICK_NS + 100);
    assert_int_equal(stream.n_lost, 1007);
    assert_int_equal(stream.quality.n[QUALITY_time_backwards], 0);
    go(&r);
    stream_close(&stream);
}

static void a_rank_that_dies_hurts_nobody(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come(0, 2);
    b = come(1, 2);
    send_step(&a, 0.5);
    send_step(&a, 0.6);
    a.out.n -= 3; /* killed while it wrote */
    talk(&stream, &a);
    go(&a);
    send_step(&b, 0.5);
    frame_tick(&b.out, b.start_ns + TICK_NS);
    frame_bye(&b.out);
    assert_int_equal(talk(&stream, &b), STREAM_STEP);
    go(&b);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 1);
    assert_int_equal(stream.quality.n[QUALITY_bad_record], 0);
    assert_int_equal(stream.defs->n_ranks, 2);
    stream_close(&stream);
}

static void a_program_may_come_again(void **state)
{
    struct stream stream;
    struct stream_part p;
    struct rank r;

    (void)state;
    open_stream(&stream);
    for (int i = 0; i < 3; i++) {
        r = come(0, 2); /* the other one is never there */
        frame_events(&r.out, 0, 0, now_ns(), 0, 0);
        frame_record(&r.out, RECORD_ENTER, 0);
        pack_varint(&r.out, 0);
        frame_close(&r.out);
        talk(&stream, &r);
        go(&r);
        assert_int_equal(wait_for_step(&stream), STREAM_STEP);
        assert_string_equal(letters(&stream, &p), i == 0 ? "(m" : ")m(m");
        assert_int_equal(p.location, 0);
    }
    assert_int_equal(stream.defs->n_locations, 1);
    assert_int_equal(stream.defs->n_metadata, 3);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 3);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    stream_close(&stream);
}

static void goodbyes_end_it_at_once(void **state)
{
    struct stream stream;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come(0, 2);
    b = come(1, 2);
    frame_bye(&a.out);
    frame_bye(&b.out);
    talk(&stream, &a);
    talk(&stream, &b);
    go(&a);
    assert_int_equal(stream_next(&stream, 0), STREAM_IDLE);
    go(&b);
    assert_int_equal(wait_for_step(&stream), STREAM_OVER);
    assert_int_equal(stream.quality.n[QUALITY_truncated], 0);
    stream_close(&stream);
}

/* Each of these is sent by a process of its own that has said hello as rank 7. */
static void say_nonsense(struct pack *to, int which, uint64_t start_ns)
{
    static const unsigned char nothing[64];

    switch (which) {
    case 0: /* a frame of 4 GiB */
        pack_bytes(to, "SNT\1\5\0\0\0\xff\xff\xff\xff", 12);
        break;
    case 1: /* another version */
        pack_bytes(to, "SNT\2", 4);
        break;
    case 2: /* an unknown kind */
        frame_open(to, (enum sample_frame)99);
        frame_close(to);
        break;
    case 3: /* hello twice */
        frame_hello(to, 7, 8, now_ns(), start_ns, TICK_NS);
        break;
    case 4: /* in a thousand years */
        frame_events(to, 0, 0, start_ns + ((uint64_t)1 << 62), 0, 0);
        frame_close(to);
        break;
    case 5: /* a leave with nothing open */
        frame_events(to, 0, 0, start_ns, 0, 0);
        frame_record(to, RECORD_LEAVE, 0);
        frame_close(to);
        break;
    case 6: /* a region that was never named */
        frame_events(to, 0, 0, start_ns, 0, 0);
        frame_record(to, RECORD_ENTER, 0);
        pack_varint(to, 3);
        frame_close(to);
        break;
    case 7: /* more open calls than bytes */
        frame_open(to, FRAME_EVENTS);
        pack_bytes(to, nothing, 10);
        pack_varint(to, UINT64_MAX);
        frame_close(to);
        break;
    case 8: /* a number that does not end */
        frame_open(to, FRAME_EVENTS);
        pack_bytes(to, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
        frame_close(to);
        break;
    case 9: /* regions that do not follow on those there are */
        frame_open(to, FRAME_REGIONS);
        pack_varint(to, 1000);
        frame_close(to);
        break;
    default: /* still there after its goodbye */
        frame_bye(to);
        frame_tick(to, start_ns);
    }
}

static void nonsense_closes_its_own_connection(void **state)
{
    struct stream stream;
    struct rank good, bad;
    struct stream_part p;
    char byte;

    (void)state;
    open_stream(&stream);
    good = come(0, 1);
    talk(&stream, &good);
    for (int i = 0; i <= 10; i++) {
        bad = come(7, 8);
        talk(&stream, &bad);
        say_nonsense(&bad.out, i, bad.start_ns);
        talk(&stream, &bad);
        while (stream.quality.n[QUALITY_bad_record] < (uint64_t)i + 1)
            stream_next(&stream, 1);
        assert_int_equal(stream.quality.n[QUALITY_bad_record], i + 1);
        assert_true(recv(bad.fd, &byte, 1, 0) <= 0);
        go(&bad);
    }
    send_step(&good, 0.5);
    frame_tick(&good.out, good.start_ns + TICK_NS);
    talk(&stream, &good);
    assert_int_equal(wait_for_step(&stream), STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(s)s");
    go(&good);
    stream_close(&stream);
}

static void a_rank_cannot_be_there_twice(void **state)
{
    struct stream stream;
    struct rank a, b;

    (void)state;
    open_stream(&stream);
    a = come(0, 1);
    talk(&stream, &a);
    b = come(0, 1);
    talk(&stream, &b);
    while (stream.quality.n[QUALITY_bad_record] == 0)
        stream_next(&stream, 1);
    send_step(&a, 0.5);
    frame_tick(&a.out, a.start_ns + TICK_NS);
    talk(&stream, &a);
    assert_int_equal(stream.n_steps, 1);
    go(&a);
    go(&b);
    stream_close(&stream);
}

/* Frames of a proper program, with bytes changed, cut into pieces anywhere. */
static void random_frames_are_survived(void **state)
{
    struct rng rng = {7};
    struct stream stream;

    (void)state;
    open_stream(&stream);
    for (int i = 0; i < 1500; i++) {
        struct rank r = come((uint32_t)i % 3, 3);

        frame_events(&r.out, (uint32_t)i % 5, 0, r.start_ns + 1000, 3, r.start_ns);
        send_all_kinds(&r.out);
        frame_close(&r.out);
        for (uint64_t n = rng_next(&rng) % 4; n > 0; n--)
            r.out.data[rng_next(&rng) % r.out.n] = (unsigned char)rng_next(&rng);
        if (i % 10 == 0)
            for (size_t k = 0; k < r.out.n; k++)
                r.out.data[k] = (unsigned char)rng_next(&rng);
        if (i % 4 == 0)
            r.out.n = rng_next(&rng) % r.out.n;
        talk(&stream, &r);
        go(&r);
    }
    stream_close(&stream);
}

/* ---------------------------------------------------------------------------- the socket */

static void the_path_must_be_free(void **state)
{
    struct stream_opts opts = {.connect_ms = 20};
    struct stream a, b;
    struct stat info;
    char longer[200] = "tracer:";
    int fd;

    (void)state;
    open_stream(&a);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stream_open(&b, url, &opts), ERR_EXISTS);
    stream_close(&b);
    assert_int_equal(stat(path, &info), 0); /* it is still the first one's */
    stream_close(&a);
    assert_int_equal(stat(path, &info), -1);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    assert_int_equal(stream_open(&b, url, &opts), ERR_EXISTS);
    stream_close(&b);
    unlink(path);
    memset(longer + strlen(longer), 'x', 150);
    assert_int_equal(stream_open(&b, longer, &opts), ERR_USAGE);
    stream_close(&b);
}

static void a_socket_that_was_left_behind_is_replaced(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stream stream;

    (void)state;
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    stream_close(open_stream(&stream));
}

static void nobody_comes(void **state)
{
    struct stream_opts opts = {.connect_ms = 20};
    struct stream stream;
    int fd, rc;

    (void)state;
    assert_int_equal(stream_open(&stream, url, &opts), 0);
    fd = connect_to(path); /* and never says a word */
    while ((rc = stream_next(&stream, 5)) == STREAM_IDLE)
        ;
    assert_int_equal(rc, ERR_IO);
    close(fd);
    stream_close(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_comes_through),
        cmocka_unit_test(the_example_of_the_page_is_right),
        cmocka_unit_test(a_step_waits_for_all_ranks),
        cmocka_unit_test(a_rank_that_says_nothing_is_not_waited_for),
        cmocka_unit_test(after_a_gap_the_stack_is_right),
        cmocka_unit_test(a_rank_that_dies_hurts_nobody),
        cmocka_unit_test(a_program_may_come_again),
        cmocka_unit_test(goodbyes_end_it_at_once),
        cmocka_unit_test(nonsense_closes_its_own_connection),
        cmocka_unit_test(a_rank_cannot_be_there_twice),
        cmocka_unit_test(random_frames_are_survived),
        cmocka_unit_test(the_path_must_be_free),
        cmocka_unit_test(a_socket_that_was_left_behind_is_replaced),
        cmocka_unit_test(nobody_comes),
    };
    int status;

    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/socket", directory);
    snprintf(url, sizeof url, "tracer:%s", path);
    log_set_level(LOG_ERROR);
    status = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return status;
}
