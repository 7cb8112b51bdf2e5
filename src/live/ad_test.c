/* 400 calls of c on each of three ranks, 0.2 ms each; every 80th on rank 1 takes 6 ms. */
#include "live/ad.h"

#include "base/test.h"

static const char program[] = "synth:400*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;"
                              "slow=c/80/30/1";

struct seen {
    int n, n_with_context;
    uint32_t location;
};

static void note(void *ctx, const struct ad_step *step)
{
    struct seen *seen = ctx;

    for (size_t i = 0; i < step->n_verdicts; i++) {
        const struct verdict *v = &step->verdict[i];

        seen->n++;
        seen->location = v->location;
        assert_true(v->judgement.p < 1e-5);
        assert_true(v->severity_ns > 3e6);
        if (v->row == NO_ROW)
            continue;
        seen->n_with_context++;
        assert_int_equal(step->calls[v->location].region[v->row], v->region);
    }
}

/* In steps of step_ns. */
static struct ad_totals run(uint64_t step_ns, struct ad_opts *opts, struct seen *seen,
                            struct sketch *sketch)
{
    struct stream stream;
    struct ad_totals totals;
    struct ad *ad;

    *seen = (struct seen){0};
    opts->sink = &(struct ad_sink){note, seen};
    opts->n_sinks = 1;
    assert_int_equal(stream_open(&stream, program, &(struct stream_opts){.step_ns = step_ns}),
                     0);
    ad = ad_new(&stream, opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    totals = *ad_totals(ad);
    if (sketch)
        sketch_merge(sketch, ad_sketch(ad, names_find(&stream.defs->names, "c")));
    ad_free(ad);
    stream_close(&stream);
    return totals;
}

static void slow_calls_are_reported_in_their_step(void **state)
{
    struct ad_opts opts = ad_default();
    struct ad_totals totals;
    struct seen seen;

    (void)state;
    totals = run(50000000, &opts, &seen, NULL);
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
    run(0, &opts, &seen, &one);
    assert_int_equal(seen.n, 5);
    run(1000000, &opts, &seen, &many);
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
    opts.least_calls = 1000;
    run(10000000, &opts, &seen, NULL);
    assert_int_equal(seen.n, 5);
    assert_true(seen.n_with_context < 3);
    opts.least_calls = 100000;
    assert_int_equal(run(10000000, &opts, &seen, NULL).n_unjudged, 3 * 400 * 7);
    opts.most_waiting = 10;
    assert_int_equal(run(10000000, &opts, &seen, NULL).n_unjudged, 3 * 400 * 7);
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
