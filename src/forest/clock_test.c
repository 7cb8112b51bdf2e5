/* Programs from the synthetic source, whose clocks can be set wrong by a known amount. */
#include "forest/clock.h"

#include "stack/callstack.h"
#include "trace/source.h"

#include "test.h"

struct setting {
    struct source source;
    struct traffic traffic;
    struct clock_fix fix[16];
    struct clock_report report;
};

static void run(struct setting *s, const char *program)
{
    struct callstack *stack = callstack_new();
    struct source_reader *reader;
    struct calls calls = {0};
    struct quality quality[16] = {0};

    assert_int_equal(source_open(&s->source, program), 0);
    reader = source_reader_new(&s->source);
    traffic_init(&s->traffic, s->source.defs.n_locations, NULL);
    for (uint32_t l = 0; l < s->source.defs.n_locations; l++) {
        const struct event_batch *batch;

        source_reader_begin(reader, l, UINT64_MAX);
        callstack_begin(stack, &calls, &quality[l]);
        while (source_reader_next(reader, &batch) > 0)
            callstack_push(stack, batch, 0, batch->n);
        callstack_end(stack);
        source_reader_end(reader, &quality[l]);
        traffic_append(&s->traffic, l, &calls);
    }
    traffic_match(&s->traffic, &s->source.defs, quality);
    clock_estimate(&s->traffic, &s->source.defs, s->fix, &s->report);
    calls_release(&calls);
    callstack_free(stack);
    source_reader_free(reader);
}

static void finish(struct setting *s)
{
    traffic_release(&s->traffic);
    source_close(&s->source);
}

static void good_clocks_are_left_alone(void **state)
{
    struct setting s;

    (void)state;
    run(&s, "synth:20*step(compute@1ms >1 <1 |);ranks=4;jitter=0.1");
    assert_int_equal(s.report.n_wrong_before, 0);
    assert_int_equal(s.report.n_shifted, 0);
    assert_int_equal(s.report.n_checked, 4 * 20 + 20);
    assert_int_equal(s.fix[3].offset_ns, 0);
    finish(&s);
}

/* Rank r is ahead by r * 5 ms; barriers take 1 us, so that is how well it can be known. */
static void offsets_are_found_from_barriers(void **state)
{
    struct setting s;

    (void)state;
    run(&s, "synth:50*step(compute@1ms |);ranks=8;jitter=0.2;skew=5ms");
    assert_true(s.report.n_wrong_before > 0);
    assert_int_equal(s.report.n_wrong_messages + s.report.n_wrong_collectives, 0);
    for (int r = 0; r < 8; r++)
        assert_true(llabs(s.fix[r].offset_ns + r * 5000000ll) < 100000);
    finish(&s);
}

static void offsets_are_found_from_messages(void **state)
{
    struct setting s;

    (void)state;
    run(&s, "synth:200*step(compute@10us >1 <1 >3 <3);ranks=4;jitter=0.3;skew=7ms");
    assert_true(s.report.n_wrong_before > 0);
    assert_int_equal(s.report.n_wrong_messages, 0);
    for (int r = 0; r < 4; r++)
        assert_true(llabs(s.fix[r].offset_ns + r * 7000000ll) < 20000);
    finish(&s);
}

/* Rank 3 gains 3 * 200 us in each second, over about four seconds. */
static void drift_is_found_when_offsets_do_not_suffice(void **state)
{
    struct setting s;

    (void)state;
    run(&s, "synth:4000*step(compute@1ms |);ranks=4;jitter=0.05;skew=1ms;drift=200");
    assert_true(s.report.n_wrong_before > 0);
    assert_true(s.report.has_drift);
    for (int r = 0; r < 4; r++)
        assert_true(fabs(s.fix[r].drift + r * 200e-6) < 20e-6);
    assert_true(s.report.n_wrong_collectives < 40);
    assert_true(s.report.worst_ns < 50000);
    finish(&s);
}

/* Of clocks that drift much the squares count, and bounds that come later are of drifting clocks,
 * too. */
static void drift_is_found_to_the_end(void **state)
{
    static const int parts_per_million[] = {46, 200, 1000};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct setting s;
        char program[128];

        snprintf(program, sizeof program,
                 "synth:3000*step(compute@1ms |);ranks=8;jitter=0.3;skew=1ms;drift=%d",
                 parts_per_million[i]);
        run(&s, program);
        assert_true(s.report.has_drift);
        for (int r = 0; r < 8; r++) /* what takes a clock back that runs so much faster */
            assert_true(fabs((1 + s.fix[r].drift) * (1 + r * parts_per_million[i] * 1e-6) - 1) <
                        1e-6);
        assert_int_equal(s.report.n_wrong_collectives, 0);
        finish(&s);
    }
}

static void one_direction_is_shifted_as_little_as_will_do(void **state)
{
    struct setting s;

    (void)state;
    run(&s, "synth:10*step(compute@1ms 1:>1 0:<1);ranks=2;skew=3ms");
    assert_true(s.report.n_wrong_before > 0);
    assert_int_equal(s.report.n_wrong_messages, 0);
    assert_true(s.fix[1].offset_ns < 0 && s.fix[1].offset_ns > -3000000);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_clocks_are_left_alone),
        cmocka_unit_test(offsets_are_found_from_barriers),
        cmocka_unit_test(offsets_are_found_from_messages),
        cmocka_unit_test(drift_is_found_when_offsets_do_not_suffice),
        cmocka_unit_test(drift_is_found_to_the_end),
        cmocka_unit_test(one_direction_is_shifted_as_little_as_will_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
