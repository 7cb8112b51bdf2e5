/* Whatever the steps, a replay says what the source says, location by location. */
#include "base/mem.h"
#include "trace/source.h"
#include "trace/stream.h"

#include <stdlib.h>

#include "test.h"

static const char program[] = "synth:50*step(compute@1ms(a 3*b) >1 <1 |);ranks=3;jitter=0.1";

/* All events of one location, their times and kinds and refs. */
struct seen {
    struct event *event;
    size_t n, cap;
};

static void see(struct seen *seen, const struct event *event, size_t n)
{
    mem_grow(&seen->event, &seen->cap, seen->n + n);
    memcpy(seen->event + seen->n, event, n * sizeof *event);
    seen->n += n;
}

static void read_source(struct seen seen[3])
{
    struct source source;
    struct source_reader *reader;
    const struct event_batch *batch;
    struct quality quality = {0};

    assert_int_equal(source_open(&source, program), 0);
    reader = source_reader_new(&source);
    for (uint32_t l = 0; l < 3; l++) {
        source_reader_begin(reader, l, UINT64_MAX);
        while (source_reader_next(reader, &batch) > 0)
            see(&seen[l], batch->event, batch->n);
        source_reader_end(reader, &quality);
    }
    source_reader_free(reader);
    source_close(&source);
}

static uint64_t read_stream(struct seen seen[3], const struct stream_opts *opts)
{
    struct stream stream;
    struct stream_part p;
    uint64_t n_steps;
    int state;

    assert_int_equal(stream_open(&stream, program, opts), 0);
    assert_int_equal(stream.defs->n_locations, 3);
    while ((state = stream_next(&stream, 5)) != STREAM_OVER) {
        assert_true(state >= 0);
        while (state == STREAM_STEP && stream_part(&stream, &p)) {
            const struct event *event = p.batch->event;

            assert_true(p.begin < p.end);
            assert_true(event[p.begin].time_ns >= stream.begin_ns);
            assert_true(event[p.end - 1].time_ns < stream.end_ns);
            see(&seen[p.location], event + p.begin, p.end - p.begin);
        }
    }
    n_steps = stream.n_steps;
    stream_close(&stream);
    return n_steps;
}

static void check(const struct stream_opts *opts, uint64_t least_steps, uint64_t most_steps)
{
    struct seen want[3] = {0}, got[3] = {0};
    uint64_t n_steps;

    read_source(want);
    n_steps = read_stream(got, opts);
    assert_in_range(n_steps, least_steps, most_steps);
    for (size_t l = 0; l < 3; l++) {
        assert_int_equal(got[l].n, want[l].n);
        for (size_t i = 0; i < want[l].n; i++) {
            assert_int_equal(got[l].event[i].time_ns, want[l].event[i].time_ns);
            assert_int_equal(got[l].event[i].kind, want[l].event[i].kind);
        }
        free(want[l].event);
        free(got[l].event);
    }
}

static void steps_change_nothing(void **state)
{
    (void)state;
    check(&(struct stream_opts){.step_ns = 0}, 1, 1);
    check(&(struct stream_opts){.step_ns = 10000000}, 5, 20);
    check(&(struct stream_opts){.step_ns = 1000}, 100, 2000);
}

static void a_replay_may_be_paced(void **state)
{
    (void)state;
    check(&(struct stream_opts){.step_ns = 10000000, .speed = 2}, 5, 20);
}

/* Of three ranks the middle one is read, and said to be rank 7 of program 2. */
static void one_rank_may_be_read_and_be_another(void **state)
{
    const uint32_t rank = 1, as_rank = 7;
    struct stream_opts opts = {.rank = &rank, .as_rank = &as_rank, .program = 2};
    struct seen want[3] = {0};
    struct stream stream;
    struct stream_part p;
    size_t n = 0;

    (void)state;
    read_source(want);
    assert_int_equal(stream_open(&stream, program, &opts), 0);
    for (uint32_t l = 0; l < 3; l++) {
        assert_int_equal(stream.defs->location[l].rank, 7);
        assert_int_equal(stream.defs->location[l].program, 2);
    }
    assert_int_equal(stream.defs->n_ranks, 8);
    while (stream_next(&stream, 0) == STREAM_STEP)
        while (stream_part(&stream, &p)) {
            assert_int_equal(p.location, 1);
            n += p.end - p.begin;
        }
    assert_int_equal(n, want[1].n);
    stream_close(&stream);
    for (size_t l = 0; l < 3; l++)
        free(want[l].event);
}

/* 1.2 million events within 0.6 s: halves of a second would have too many. */
static void dense_steps_are_shorter(void **state)
{
    struct stream_opts opts = {.step_ns = 1000000000};
    uint64_t n_all = 0, last_end_ns = 0;
    struct stream stream;
    struct stream_part p;

    (void)state;
    assert_int_equal(stream_open(&stream, "synth:300000*a(b);ranks=1", &opts), 0);
    while (stream_next(&stream, 0) == STREAM_STEP) {
        uint64_t n = 0;

        assert_true(stream.begin_ns >= last_end_ns && stream.end_ns > stream.begin_ns);
        last_end_ns = stream.end_ns;
        while (stream_part(&stream, &p))
            n += p.end - p.begin;
        assert_true(n <= 600000);
        n_all += n;
    }
    assert_int_equal(n_all, 1200000);
    assert_in_range(stream.n_steps, 3, 8);
    stream_close(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_change_nothing),
        cmocka_unit_test(a_replay_may_be_paced),
        cmocka_unit_test(one_rank_may_be_read_and_be_another),
        cmocka_unit_test(dense_steps_are_shorter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
