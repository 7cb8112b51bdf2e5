/* Times are in microseconds, as sample_view.h has them; dependencies are said by hand. */
#include "replay/replay.h"
#include "replay/what_if.h"

#include <math.h>

#include "sample_view.h"
#include "test.h"

#define MAX_STREAMS 16

struct played {
    struct sample_view trace;
    struct dependency dependency[MAX_STREAMS];
    size_t n;
    struct syncs syncs;
    struct replay replay;
};

/* The call that begins at a time waits for another, on a location that begins at a time. */
static void after(struct played *p, enum dependency_kind kind, uint32_t location, uint64_t at,
                  uint32_t on_location, uint64_t on)
{
    p->dependency[p->n++] = (struct dependency){.begin_ns = at * 1000,
                                                .on_begin_ns = on * 1000,
                                                .location = location,
                                                .on_location = on_location,
                                                .region = ANY_REGION,
                                                .on_region = ANY_REGION,
                                                .kind = kind};
}

#define TELL(p, ...)                                                                           \
    *(p) = (struct played){0};                                                                 \
    sample_view_init(&(p)->trace, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), \
                     (const char *const[]){__VA_ARGS__})

static void begin(struct played *p)
{
    struct replay_result result;

    p->trace.view.dependency = p->dependency;
    p->trace.view.n_dependencies = p->n;
    assert_int_equal(syncs_init(&p->syncs, &p->trace.view), 0);
    replay_init(&p->replay, &p->syncs);
    replay_whole(&p->replay, &result);
    assert_int_equal(result.saved_ns, 0);
}

static void end(struct played *p)
{
    replay_release(&p->replay);
    syncs_release(&p->syncs);
    sample_view_release(&p->trace);
}

/* What is saved, in us, when so much is cut out of a call. */
static double saved(struct played *p, uint32_t location, uint32_t row, int64_t us)
{
    struct replay_result part, whole;

    replay_clear(&p->replay);
    replay_cut(&p->replay, location, row, us * 1000);
    replay_whole(&p->replay, &whole);
    replay_run(&p->replay, &part);
    assert_int_equal(part.saved_ns, whole.saved_ns);
    replay_clear(&p->replay);
    return (double)whole.saved_ns * 1e-3;
}

#define assert_us(is, expected) assert_float_equal(is, expected, 1e-9)

static void an_operation_begins_when_what_it_waits_for_has_ended(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "a@0-10 c@30-40", "b@0-20 d@20-30");
    after(&p, DEPENDENCY_END, 1, 20, 0, 0);  /* d after a */
    after(&p, DEPENDENCY_END, 0, 30, 1, 20); /* c after d */
    begin(&p);
    assert_us(saved(&p, 1, 0, 15), 10); /* then d waits for a */
    assert_us(saved(&p, 0, 0, 5), 0);
    assert_us(saved(&p, 0, 1, 5), 5);
    end(&p);
}

static void an_exchange_takes_its_time_once_all_sides_have_begun(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "a@0-10 s@10-45>1", "b@0-30 r@30-45<0");
    after(&p, DEPENDENCY_END, 0, 10, 0, 0);
    after(&p, DEPENDENCY_END, 1, 30, 1, 0);
    begin(&p);
    assert_us(saved(&p, 1, 0, 25), 20); /* from 10 on it takes 15 */
    assert_us(saved(&p, 0, 0, 5), 0);
    assert_us(saved(&p, 0, 1, 40), 0); /* the other side takes as long as it did */
    end(&p);
}

static void who_waits_for_an_exchange_waits_for_its_end(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "a@0-10 s@10-45>1", "b@0-30 r@30-45<0", "d@0-5 e@45-70");
    after(&p, DEPENDENCY_END, 0, 10, 0, 0);
    after(&p, DEPENDENCY_END, 1, 30, 1, 0);
    after(&p, DEPENDENCY_END, 2, 45, 1, 30);
    begin(&p);
    assert_us(saved(&p, 1, 1, 10), 10); /* r ends at 35, e at 60 */
    end(&p);
}

static void a_kernel_does_not_begin_before_it_is_launched(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "run@0-40( launch@20-21 launch@30-31 )", "k@22-50 k@50-95");
    after(&p, DEPENDENCY_BEGIN, 1, 22, 0, 20);
    after(&p, DEPENDENCY_BEGIN, 1, 50, 0, 30);
    begin(&p);
    assert_us(saved(&p, 1, 0, 28), 19); /* the second is launched at 31 */
    assert_us(saved(&p, 0, 0, 20),
              14); /* its first 20 are 6 then, the second launch is no matter */
    end(&p);
}

/* A first launch loads the code of the kernel. One whose kernel begins in it is over before. */
static void a_kernel_waits_for_a_launch_that_takes_long(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "launch@10-60 launch@80-90 calc@90-95", "k@62-70 k@84-100");
    after(&p, DEPENDENCY_BEGIN, 1, 62, 0, 10);
    after(&p, DEPENDENCY_BEGIN, 1, 84, 0, 80);
    begin(&p);
    assert_us(saved(&p, 0, 0, 45), 45);
    assert_us(saved(&p, 0, 1, 9), 0);
    end(&p);
}

static void who_synchronises_waits_for_the_stream(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "launch@20-21 launch@30-31 sync@40-96 calc@96-120", "k@22-50 k@50-95");
    after(&p, DEPENDENCY_BEGIN, 1, 22, 0, 20);
    after(&p, DEPENDENCY_BEGIN, 1, 50, 0, 30);
    after(&p, DEPENDENCY_RETURN, 0, 40, 1, 50);
    begin(&p);
    assert_us(saved(&p, 1, 0, 28), 19);
    assert_us(saved(&p, 1, 1, 10), 10);
    assert_us((double)p.replay.waits_less[0] * 1e-3, 10);
    end(&p);
}

/* Without a word of the trace: the last operation on each stream, of one stream that which
 * ended last. */
static void a_function_that_synchronises_waits_for_the_streams_of_its_process(void **state)
{
    static const char *const calls[] = {
        "launch@20-21 launch@30-31 cudaDeviceSynchronize@40-96 calc@96-120",
        "launch@20-21 launch@30-31 cudaStreamSynchronize@40-96 calc@96-120"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct played p;

        TELL(&p, calls[i], "+k@22-50 k@50-95", "+short@40-80");
        p.trace.defs.location[1].is_gpu = p.trace.defs.location[2].is_gpu = true;
        after(&p, DEPENDENCY_BEGIN, 1, 22, 0, 20);
        after(&p, DEPENDENCY_BEGIN, 1, 50, 0, 30);
        after(&p, DEPENDENCY_BEGIN, 2, 40, 0, 30);
        begin(&p);
        assert_us(saved(&p, 1, 1, 10), 10);
        assert_us(saved(&p, 1, 1, 40), i == 0 ? 15 : 40);
        assert_us(saved(&p, 2, 0, 30), 0);
        end(&p);
    }
}

/* It comes as much earlier as what went before it there, at most. */
static void what_has_no_launch_in_the_trace_comes_with_who_waits_for_it(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "x@0-20 launch@20-21 cudaDeviceSynchronize@40-96 calc@96-120", "+k@30-95");
    p.trace.defs.location[1].is_gpu = true;
    begin(&p);
    assert_false(syncs_are_exact(&p.syncs));
    assert_us(saved(&p, 0, 0, 10), 10);
    assert_us(saved(&p, 1, 0, 30), 30);
    end(&p);
    TELL(&p, "x@0-20 launch@20-21 cudaDeviceSynchronize@40-96 calc@96-120", "+k@30-95");
    p.trace.defs.location[1].is_gpu = true;
    after(&p, DEPENDENCY_BEGIN, 1, 30, 0, 20);
    begin(&p);
    assert_true(syncs_are_exact(&p.syncs));
    assert_us(saved(&p, 0, 0, 10), 10);
    end(&p);
}

/* What another stream still does when the call has ended, it did not wait for. */
static void who_synchronises_at_once_waits_for_no_stream_that_goes_on(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "x@0-20 launch@20-21 launch@30-31 cudaStreamSynchronize@61-63 calc@63-120",
         "+k@22-55", "+long@32-90");
    p.trace.defs.location[1].is_gpu = p.trace.defs.location[2].is_gpu = true;
    after(&p, DEPENDENCY_BEGIN, 1, 22, 0, 20);
    after(&p, DEPENDENCY_BEGIN, 2, 32, 0, 30);
    begin(&p);
    assert_us(saved(&p, 2, 0, 5), 0);
    assert_us(saved(&p, 0, 0, 10), 10);
    end(&p);
}

static void operations_that_overlap_are_in_a_track_for_each_function(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "x@0-10( y@2-9 ) x@10-20( y@12-19 )", "z@0-30 z@30-40");
    after(&p, DEPENDENCY_END, 0, 12, 0, 2);
    after(&p, DEPENDENCY_END, 0, 10, 0, 0);
    after(&p, DEPENDENCY_END, 1, 30, 1, 0);
    begin(&p);
    assert_int_equal(p.syncs.n_tracks, 3);
    assert_int_equal(p.syncs.track[1], 2);
    end(&p);
}

static void one_that_ends_a_little_late_does_not_overlap_the_next(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "x@0-100( y@100-100 ) x@101-200", "z@0-30");
    after(&p, DEPENDENCY_END, 0, 101, 0, 0);
    begin(&p);
    assert_int_equal(p.syncs.track[1], 1);
    end(&p);
}

static void what_cannot_be_found_is_no_dependency(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "a@10-20", "b@10-20");
    after(&p, DEPENDENCY_END, 0, 2, 1, 10);
    after(&p, DEPENDENCY_END, 7, 10, 1, 10);
    after(&p, DEPENDENCY_END, 0, 10, 1, 10);
    p.dependency[2].on_region = 1000;
    after(&p, (enum dependency_kind)9, 0, 10, 1, 10);
    begin(&p);
    assert_false(p.syncs.is_stream[0]);
    end(&p);
}

static bool is_at(uint32_t location, uint32_t region, void *ctx)
{
    (void)region;
    return location == *(uint32_t *)ctx;
}

static bool is_of(uint32_t location, uint32_t region, void *ctx)
{
    (void)location;
    return region == *(uint32_t *)ctx;
}

/* f takes 30 on one, 10 on the other, ideally 20; what follows needs both. */
static void slowdowns_are_those_of_the_paper(void **state)
{
    struct played p;
    struct ideal ideal;

    (void)state;
    TELL(&p, "f@0-30 f@30-60 |@60-70|", "f@0-10 f@12-22 |@60-70|");
    after(&p, DEPENDENCY_END, 0, 30, 0, 0);
    after(&p, DEPENDENCY_END, 1, 12, 1, 0);
    begin(&p);
    ideal_init(&ideal, &p.replay);
    assert_us(ideal.run_ns * 1e-3, 70);
    assert_us(ideal.ideal_ns * 1e-3, 50);
    assert_us(ideal_slowdown(&ideal, is_at, &(uint32_t){0}), 70. / 50);
    assert_us(ideal_slowdown(&ideal, is_at, &(uint32_t){1}), 1);
    assert_us(ideal_slowdown(&ideal, is_of, &p.trace.calls[0].region[0]), 70. / 50);
    assert_us(ideal_slowdown(&ideal, is_of, &p.trace.calls[0].region[2]), 1);
    ideal_release(&ideal);
    end(&p);
}

static void gaps_are_closed_but_not_while_nothing_goes_on(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "a@0-10 b@15-30 c@50-60", "d@0-20 e@20-25");
    after(&p, DEPENDENCY_END, 0, 15, 0, 0);
    after(&p, DEPENDENCY_END, 0, 50, 0, 15);
    after(&p, DEPENDENCY_END, 1, 20, 1, 0);
    begin(&p);
    gaps_close(&p.replay, &p.syncs);
    assert_us((double)(p.syncs.end_ns - p.syncs.begin_ns) * 1e-3, 55); /* b at 10, 20 silent */
    assert_us(saved(&p, 0, 1, 15), 15);
    end(&p);
}

/* Each says that it waits for the other: whatever follows, it ends, and the trace stays. */
static void a_circle_is_gone_through_in_the_order_of_time(void **state)
{
    struct played p;

    (void)state;
    TELL(&p, "a@0-10 b@10-20", "c@5-15 d@15-30");
    after(&p, DEPENDENCY_END, 0, 10, 1, 15);
    after(&p, DEPENDENCY_END, 1, 15, 0, 10);
    begin(&p);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_begins_when_what_it_waits_for_has_ended),
        cmocka_unit_test(an_exchange_takes_its_time_once_all_sides_have_begun),
        cmocka_unit_test(who_waits_for_an_exchange_waits_for_its_end),
        cmocka_unit_test(a_kernel_does_not_begin_before_it_is_launched),
        cmocka_unit_test(a_kernel_waits_for_a_launch_that_takes_long),
        cmocka_unit_test(who_synchronises_waits_for_the_stream),
        cmocka_unit_test(a_function_that_synchronises_waits_for_the_streams_of_its_process),
        cmocka_unit_test(what_has_no_launch_in_the_trace_comes_with_who_waits_for_it),
        cmocka_unit_test(who_synchronises_at_once_waits_for_no_stream_that_goes_on),
        cmocka_unit_test(operations_that_overlap_are_in_a_track_for_each_function),
        cmocka_unit_test(one_that_ends_a_little_late_does_not_overlap_the_next),
        cmocka_unit_test(what_cannot_be_found_is_no_dependency),
        cmocka_unit_test(slowdowns_are_those_of_the_paper),
        cmocka_unit_test(gaps_are_closed_but_not_while_nothing_goes_on),
        cmocka_unit_test(a_circle_is_gone_through_in_the_order_of_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
