/* What is no frame hurts nobody but who sent it; and where the socket may be. */
#include "base/err.h"
#include "base/rng.h"
#include "trace/tracer/tracer_frame.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sample_ranks.h"
#include "test.h"

static void say_more_nonsense(struct pack *to, int which, uint64_t start_ns)
{
    switch (which) {
    case 0: /* a goodbye that says something */
        frame_open(to, FRAME_BYE);
        pack_varint(to, 0);
        frame_close(to);
        break;
    case 1: /* windows that do not follow on those there are */
        frame_open(to, FRAME_OBJECTS);
        pack_varint(to, 3);
        frame_close(to);
        break;
    case 2: /* a group of more ranks than bytes */
        frame_open(to, FRAME_OBJECTS);
        pack_bytes(to, "\4\1\x80\x80\4\0", 6);
        frame_close(to);
        break;
    case 3: /* the handle of a file that is a window */
        frame_open(to, FRAME_OBJECTS);
        pack_bytes(to, "\4\3\0\0", 4);
        frame_close(to);
        break;
    case 4: /* a put to a file */
        frame_events(to, 0, 0, start_ns, 0, 0);
        frame_record(to, RECORD_PUT, 0);
        pack_bytes(to, "\2\0\0\0\0\0", 6);
        frame_close(to);
        break;
    case 5: /* an epoch of a group that was never named */
        frame_events(to, 0, 0, start_ns, 0, 0);
        frame_record(to, RECORD_GROUP_SYNC, 0);
        pack_bytes(to, "\0\4\0\0\0\0", 6);
        frame_close(to);
        break;
    default: /* a kind of record beyond the last one */
        frame_events(to, 0, 0, start_ns, 0, 0);
        frame_record(to, RECORD_IO_COMPLETE + 1, 0);
        pack_bytes(to, "\3\0\0\0\0\0", 6);
        frame_close(to);
    }
}

/* Each of these is sent by a process of its own that has said hello as rank 7. */
static void say_nonsense(struct pack *to, int which, uint64_t start_ns)
{
    static const unsigned char nothing[64];

    switch (which) {
    case 0: /* a frame of 4 GiB */
        pack_bytes(to, "SNT\2\5\0\0\0\xff\xff\xff\xff", 12);
        break;
    case 1: /* another version */
        pack_bytes(to, "SNT\1", 4);
        break;
    case 2: /* an unknown kind */
        frame_open(to, (enum sample_frame)99);
        frame_close(to);
        break;
    case 3: /* hello twice */
        frame_hello(to,
                    &(struct sample_process){
                        .rank = 7, .n_ranks = 8, .pid = 4718, .start_ns = start_ns},
                    now_ns(), TICK_NS);
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
    case 10: /* still there after its goodbye */
        frame_bye(to);
        frame_tick(to, start_ns);
        break;
    default:
        say_more_nonsense(to, which - 11, start_ns);
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
    good = come(0, 8);
    talk(&stream, &good);
    for (int i = 0; i <= 17; i++) {
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

/* As many as a process tells: MAX_COMMUNICATORS in tracer/communicators.h. */
static void all_communicators_that_a_program_makes_are_taken(void **state)
{
    struct stream stream;
    struct rank rank;
    struct stream_part p;
    int got;

    (void)state;
    open_stream(&stream);
    rank = come(0, 1);
    talk(&stream, &rank);
    frame_open(&rank.out, FRAME_COMMS);
    pack_varint(&rank.out, 2);
    for (uint32_t i = 2; i < 16384; i++) {
        const uint32_t numbers[] = {0, i, 0, 0, 1, 0}; /* pair, is self, no name, members */

        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            pack_varint(&rank.out, numbers[k]);
    }
    frame_close(&rank.out);
    send_step(&rank, 0.5);
    frame_tick(&rank.out, rank.start_ns + TICK_NS);
    got = talk(&stream, &rank);
    assert_int_equal(got == STREAM_IDLE ? wait_for_step(&stream) : got, STREAM_STEP);
    assert_string_equal(letters(&stream, &p), "(s)s");
    assert_int_equal(stream.quality.n[QUALITY_bad_record], 0);
    go(&rank);
    stream_close(&stream);
}

static void another_version_is_told_by_its_number(void **state)
{
    size_t size;

    (void)state;
    assert_int_equal(tracer_frame_size((const unsigned char *)"SNT\1", 4, &size), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "version 1, not 2"));
    assert_int_equal(tracer_frame_size((const unsigned char *)"GET ", 4, &size), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "no frames of the tracer"));
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

/* Frames of a proper program, with bytes changed, cut into pieces anywhere; SNAG_FRAMES times,
 * or 5000. */
static void random_frames_are_survived(void **state)
{
    const char *wanted = getenv("SNAG_FRAMES");
    uint32_t n = wanted ? (uint32_t)atoi(wanted) : 5000;
    struct rng rng = {7};
    struct stream stream;

    (void)state;
    open_stream(&stream);
    for (uint32_t i = 0; i < n; i++) {
        struct rank r = come(i % 3, 3);

        frame_events(&r.out, i % 5, 0, r.start_ns + 1000, 3, r.start_ns);
        send_all_kinds(&r.out);
        frame_close(&r.out);
        for (uint64_t changes = rng_next(&rng) % 4; changes > 0; changes--)
            r.out.data[rng_next(&rng) % r.out.n] = (unsigned char)rng_next(&rng);
        if (i % 10 == 0)
            for (size_t k = 0; k < r.out.n; k++)
                r.out.data[k] = (unsigned char)rng_next(&rng);
        if (i % 4 == 0)
            r.out.n = rng_next(&rng) % r.out.n;
        talk(&stream, &r);
        go(&r);
    }
    assert_in_range(stream.quality.n[QUALITY_bad_record], n / 50, n);
    assert_in_range(stream.defs->n_locations, 10, 2 * n);
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
    assert_int_equal(stat(sample_path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stream_open(&b, sample_url, &opts), ERR_EXISTS);
    stream_close(&b);
    assert_int_equal(stat(sample_path, &info), 0); /* it is still the first one's */
    stream_close(&a);
    assert_int_equal(stat(sample_path, &info), -1);
    fd = open(sample_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    assert_int_equal(stream_open(&b, sample_url, &opts), ERR_EXISTS);
    stream_close(&b);
    unlink(sample_path);
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
    strcpy(address.sun_path, sample_path);
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
    assert_int_equal(stream_open(&stream, sample_url, &opts), 0);
    fd = connect_to(sample_path); /* and never says a word */
    while ((rc = stream_next(&stream, 5)) == STREAM_IDLE)
        ;
    assert_int_equal(rc, ERR_IO);
    close(fd);
    stream_close(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_closes_its_own_connection),
        cmocka_unit_test(all_communicators_that_a_program_makes_are_taken),
        cmocka_unit_test(another_version_is_told_by_its_number),
        cmocka_unit_test(a_rank_cannot_be_there_twice),
        cmocka_unit_test(random_frames_are_survived),
        cmocka_unit_test(the_path_must_be_free),
        cmocka_unit_test(a_socket_that_was_left_behind_is_replaced),
        cmocka_unit_test(nobody_comes),
    };

    return sample_main(tests);
}
