/* Calls of c take 200 us, every 40th of them on rank 1 takes 30 times as long. */
#include "analysis/per_call.h"

#include "sample_run.h"
#include "test.h"

static const char program[] = "synth:200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;"
                              "slow=c/40/30/1";

static void run(struct sample_run *sample, struct per_call_opts *opts,
                struct per_call_result *result)
{
    sample_run_init(sample, program, "step", NULL);
    opts->pool = sample->pool;
    per_call_run(&sample->columns, &sample->source.defs, opts, result);
}

static void slow_calls_are_found_with_where_they_are(void **state)
{
    struct per_call_opts opts = per_call_default();
    struct per_call_result result;
    struct sample_run sample;
    uint32_t c;

    (void)state;
    run(&sample, &opts, &result);
    c = names_find(&sample.source.defs.names, "c");
    assert_int_equal(result.n, 5);
    assert_int_equal(result.n_anomalies, 5);
    assert_int_equal(result.n_judged, 3 * 200 * 7);
    for (size_t i = 0; i < result.n; i++) {
        const struct strange_call *call = &result.call[i];
        struct call_view calls = columns_view(&sample.columns, call->location);

        assert_int_equal(call->region, c);
        assert_int_equal(calls.region[call->row], c);
        assert_int_equal(call->time_ns, calls.inclusive_ns[call->row]);
        assert_int_equal(sample.source.defs.location[call->location].rank, 1);
        assert_true(call->severity_ns > 4e6 && call->severity_ns < 9e6);
        assert_true(call->p < 1e-5);
        assert_true(i == 0 || call->severity_ns <= result.call[i - 1].severity_ns);
    }
    per_call_release(&result);
    sample_run_release(&sample);
}

static void only_the_most_severe_are_kept_but_all_are_counted(void **state)
{
    struct per_call_opts opts = per_call_default();
    struct per_call_result all, few;
    struct sample_run sample;

    (void)state;
    run(&sample, &opts, &all);
    opts.most = 2;
    per_call_run(&sample.columns, &sample.source.defs, &opts, &few);
    assert_int_equal(few.n, 2);
    assert_int_equal(few.n_anomalies, all.n_anomalies);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(few.call[i].location, all.call[i].location);
        assert_int_equal(few.call[i].row, all.call[i].row);
        assert_true(few.call[i].severity_ns == all.call[i].severity_ns);
    }
    per_call_release(&all);
    per_call_release(&few);
    sample_run_release(&sample);
}

/* The step that holds a slow c is itself slow inclusively, not exclusively. */
static void inclusive_time_blames_the_callers_too(void **state)
{
    struct per_call_opts opts = per_call_default();
    struct per_call_result result;
    struct sample_run sample;

    (void)state;
    opts.is_inclusive = true;
    run(&sample, &opts, &result);
    assert_int_equal(result.n_anomalies, 10);
    per_call_release(&result);
    sample_run_release(&sample);
}

static void regions_with_few_calls_are_not_judged(void **state)
{
    struct per_call_opts opts = per_call_default();
    struct per_call_result result;
    struct sample_run sample;

    (void)state;
    opts.least_calls = 601;
    run(&sample, &opts, &result);
    assert_int_equal(result.n_judged, 3 * 200 * 3); /* only b */
    per_call_release(&result);
    sample_run_release(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_calls_are_found_with_where_they_are),
        cmocka_unit_test(only_the_most_severe_are_kept_but_all_are_counted),
        cmocka_unit_test(inclusive_time_blames_the_callers_too),
        cmocka_unit_test(regions_with_few_calls_are_not_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
