/* 400 calls of c on each of three ranks, 0.2 ms each; every 80th on rank 1 takes 6 ms. */
#include "live/ad.h"

#include "base/rng.h"

#include "test.h"

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

/* ---------------------------------------------------------------- a stream that says anything
 */

#define EVENTS 256

struct odd_stream {
    struct definitions defs;
    struct stream stream;
    struct event event[EVENTS];
    struct event_batch batch;
    struct stream_part part;
    bool is_step, is_said;
};

static int odd_next(struct stream *stream, int timeout_ms)
{
    struct odd_stream *o = stream->impl;

    (void)timeout_ms;
    o->is_said = false;
    return o->is_step ? STREAM_STEP : STREAM_OVER;
}

static bool odd_part(struct stream *stream, struct stream_part *part)
{
    struct odd_stream *o = stream->impl;
    bool is_part = !o->is_said && o->part.end > 0;

    o->is_said = true;
    *part = o->part;
    return is_part;
}

static void odd_close(struct stream *stream)
{
    (void)stream;
}

static const struct stream_ops odd_ops = {
    .next = odd_next, .part = odd_part, .close = odd_close};

static void odd_open(struct odd_stream *o)
{
    *o = (struct odd_stream){0};
    o->batch.event = o->event;
    o->stream = (struct stream){.ops = &odd_ops, .defs = &o->defs, .impl = o};
    definitions_location(&o->defs, 0, "", 0);
    definitions_finish(&o->defs, NULL, 0);
}

/* One step with these events of a location. */
static void odd_step(struct odd_stream *o, struct ad *ad, uint32_t location, size_t n)
{
    o->batch.n = n;
    o->part = (struct stream_part){location, &o->batch, 0, n};
    o->is_step = true;
    assert_int_equal(ad_next(ad, 0), STREAM_STEP);
    o->is_step = false;
}

static void count_steps(void *ctx, const struct ad_step *step)
{
    int *n = ctx;

    *n += step->is_last ? 100 : 1;
}

static void a_step_may_be_empty(void **state)
{
    struct ad_opts opts = ad_default();
    struct odd_stream o;
    struct ad *ad;
    int n = 0;

    (void)state;
    odd_open(&o);
    opts.sink = &(struct ad_sink){count_steps, &n};
    opts.n_sinks = 1;
    ad = ad_new(&o.stream, &opts);
    odd_step(&o, ad, 0, 0);
    odd_step(&o, ad, 0, 0);
    assert_int_equal(ad_next(ad, 0), STREAM_OVER);
    assert_int_equal(n, 102);
    assert_int_equal(ad_totals(ad)->n_calls, 0);
    ad_free(ad);
    stream_close(&o.stream);
    definitions_release(&o.defs);
}

/* Nothing that a stream says may do more than be counted. */
static void any_numbers_are_survived(void **state)
{
    static const uint64_t time[] = {0, 1, 5, UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 63};
    static const uint32_t ref[] = {0, 1, 2, 3, UINT32_MAX, UINT32_MAX - 1};
    struct ad_opts opts = ad_default();
    struct rng rng = {3};

    (void)state;
    opts.least_calls = 1;
    for (int by_path = 0; by_path < 2; by_path++) {
        struct odd_stream o;
        struct ad *ad;

        odd_open(&o);
        opts.is_by_path = by_path;
        ad = ad_new(&o.stream, &opts);
        for (int step = 0; step < 200; step++) {
            if (step % 50 == 0)
                definitions_region(&o.defs, step ? step > 50 ? "c" : "b" : "a");
            for (size_t i = 0; i < EVENTS; i++)
                o.event[i] =
                    (struct event){time[rng_below(&rng, 6)],
                                   (uint32_t)rng_below(&rng, 2) ? EVENT_ENTER : EVENT_LEAVE,
                                   ref[rng_below(&rng, 6)]};
            odd_step(&o, ad, step % 7 ? 0 : UINT32_MAX, EVENTS);
        }
        assert_int_equal(ad_next(ad, 0), STREAM_OVER);
        assert_true(ad_totals(ad)->n_calls > 1000);
        assert_true(ad_quality(ad)->n[QUALITY_bad_value] > 1000);
        assert_true(ad_quality(ad)->n[QUALITY_unmatched_leave] > 0);
        assert_true(ad_quality(ad)->n[QUALITY_time_backwards] > 100);
        ad_free(ad);
        stream_close(&o.stream);
        definitions_release(&o.defs);
    }
}

/* main and solve are open when the stream ends: closed, counted, not learnt. */
static void what_is_open_at_the_end_is_not_learnt(void **state)
{
    struct ad_opts opts = ad_default();
    struct odd_stream o;
    struct ad *ad;

    (void)state;
    odd_open(&o);
    definitions_region(&o.defs, "main");
    definitions_region(&o.defs, "solve");
    ad = ad_new(&o.stream, &opts);
    o.event[0] = (struct event){0, EVENT_ENTER, 0};
    o.event[1] = (struct event){1, EVENT_ENTER, 1};
    o.event[2] = (struct event){2, EVENT_LEAVE, 1};
    o.event[3] = (struct event){3, EVENT_ENTER, 1};
    odd_step(&o, ad, 0, 4);
    assert_int_equal(ad_next(ad, 0), STREAM_OVER);
    assert_int_equal(ad_totals(ad)->n_calls, 3);
    assert_int_equal(ad_sketch(ad, 0)->n, 0);
    assert_int_equal(ad_sketch(ad, 1)->n, 1);
    assert_int_equal(ad_quality(ad)->n[QUALITY_open_at_end], 2);
    ad_free(ad);
    stream_close(&o.stream);
    definitions_release(&o.defs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_calls_are_reported_in_their_step),
        cmocka_unit_test(models_do_not_depend_on_the_steps),
        cmocka_unit_test(calls_wait_for_a_model),
        cmocka_unit_test(a_step_may_be_empty),
        cmocka_unit_test(any_numbers_are_survived),
        cmocka_unit_test(what_is_open_at_the_end_is_not_learnt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
