/* Whatever the steps, a replay says what the source says, location by location. */
#include "base/mem.h"
#include "base/test.h"
#include "trace/source.h"
#include "trace/stream.h"

#include <stdlib.h>

static const char program[] = "synth:50*step(compute@1ms(a 3*b) >1 <1 |);ranks=3;jitter=0.1";

/* All events of one location, their times and kinds and refs. */
struct seen {
    struct event *event;
    size_t n, cap;
};

static void see(struct seen *seen, const struct event *event, size_t n)
{
    mem_grow(&seen->event, &seen->cap, seen->n + n, sizeof *event);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_change_nothing),
        cmocka_unit_test(a_replay_may_be_paced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
