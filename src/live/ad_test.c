/* 400 calls of c on each of three ranks, 0.2 ms each; every 80th on rank 1 takes 6 ms. */
#include "live/ad.h"

#include "base/test.h"

static const char program[] = "synth:400*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;"
                              "slow=c/80/30/1";

struct seen {
    int n, n_with_context;
    uint32_t location;
    uint64_t sum_ns;
};

static void note(void *ctx, const struct ad_anomaly *anomaly)
{
    struct seen *seen = ctx;

    seen->n++;
    seen->location = anomaly->location;
    seen->sum_ns += anomaly->time_ns;
    assert_true(anomaly->judgement.p < 1e-5);
    assert_true(anomaly->severity_ns > 3e6);
    if (anomaly->calls) {
        seen->n_with_context++;
        assert_int_equal(anomaly->calls->region[anomaly->row], anomaly->region);
    }
}

static struct ad_totals run(struct ad_opts *opts, struct seen *seen, struct sketch *sketch)
{
    struct source source;
    struct ad_totals totals;
    struct ad *ad;

    *seen = (struct seen){0};
    opts->anomaly = note;
    opts->ctx = seen;
    assert_int_equal(source_open(&source, program), 0);
    assert_int_equal(ad_open(&ad, &source, opts), 0);
    while (ad_step(ad))
        ;
    totals = *ad_totals(ad);
    if (sketch)
        sketch_merge(sketch, ad_sketch(ad, names_find(&source.defs.names, "c")));
    ad_close(ad);
    source_close(&source);
    return totals;
}

static void slow_calls_are_reported_in_their_step(void **state)
{
    struct ad_opts opts = ad_default();
    struct ad_totals totals;
    struct seen seen;

    (void)state;
    opts.step_ns = 50000000;
    totals = run(&opts, &seen, NULL);
    assert_int_equal(seen.n, 5);
    assert_int_equal(seen.location, 1);
    assert_int_equal(totals.n_anomalies, 5);
    assert_int_equal(totals.n_calls, 3 * 400 * 7);
    assert_int_equal(totals.n_unjudged, 0);
    assert_true(totals.n_steps > 5);
    assert_true(seen.n_with_context >= 4);
}

static void models_do_not_depend_on_the_steps(void **state)
{
    struct ad_opts opts = ad_default();
    struct sketch one, many;
    struct pack p = {0}, q = {0};
    struct seen seen;

    (void)state;
    sketch_init(&one);
    sketch_init(&many);
    opts.step_ns = UINT64_MAX / 2;
    run(&opts, &seen, &one);
    assert_int_equal(seen.n, 5);
    opts.step_ns = 1000000;
    run(&opts, &seen, &many);
    sketch_pack(&one, &p);
    sketch_pack(&many, &q);
    assert_int_equal(p.n, q.n);
    assert_memory_equal(p.data, q.data, p.n);
    pack_release(&p);
    pack_release(&q);
    sketch_release(&one);
    sketch_release(&many);
}

/* With a thousand calls wanted, those before wait and are judged then. */
static void calls_wait_for_a_model(void **state)
{
    struct ad_opts opts = ad_default();
    struct seen seen;

    (void)state;
    opts.step_ns = 10000000;
    opts.least_calls = 1000;
    run(&opts, &seen, NULL);
    assert_int_equal(seen.n, 5);
    assert_true(seen.n_with_context < 3);
    opts.least_calls = 100000;
    assert_int_equal(run(&opts, &seen, NULL).n_unjudged, 3 * 400 * 7);
    opts.most_waiting = 10;
    assert_int_equal(run(&opts, &seen, NULL).n_unjudged, 3 * 400 * 7);
    assert_int_equal(seen.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_calls_are_reported_in_their_step),
        cmocka_unit_test(models_do_not_depend_on_the_steps),
        cmocka_unit_test(calls_wait_for_a_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
