/*
 * Durations of calls, drawn as programs make them, with and without one call in two thousand
 * made 20 to 50 times as long. Seeds are fixed: the counts below are facts, not chances.
 */
#include "detect/call_detector.h"

#include "base/rng.h"

#include "test.h"

enum { CALLS = 100000 };

typedef double draw_fn(struct rng *rng);

static double gaussian(struct rng *rng)
{
    return fmax(1, 1000 + 100 * rng_normal(rng));
}

static double lognormal(struct rng *rng)
{
    return 5000 * exp(0.3 * rng_normal(rng));
}

static double bimodal(struct rng *rng)
{
    return (rng_real(rng) < 0.3 ? 50000 : 2000) * exp(0.1 * rng_normal(rng));
}

static double constant(struct rng *rng)
{
    (void)rng;
    return 10000;
}

/* A clock of 10 us: most calls take no time at all. */
static double coarse(struct rng *rng)
{
    return rng_real(rng) < 0.1 ? 10000 * floor(1 + 3 * rng_real(rng)) : 0;
}

struct counts {
    int n_found, n_false, n_injected;
};

/* Judges CALLS calls by the model of all of them. */
static struct counts judge(draw_fn *draw, double share, double base)
{
    static const struct call_detector_opts opts = {.sigmas = 0};
    const struct call_detector_ops *ops = call_detector_find("tails");
    uint64_t *duration = calloc(CALLS, sizeof *duration);
    bool *is_slow = calloc(CALLS, sizeof *is_slow);
    struct rng rng = {11};
    struct counts counts = {0};
    struct sketch sketch;
    struct call_judge j = {0};

    sketch_init(&sketch);
    for (int i = 0; i < CALLS; i++) {
        double ns = draw(&rng);

        is_slow[i] = rng_real(&rng) < share;
        if (is_slow[i])
            ns = (base > 0 ? base : ns) * (20 + 30 * rng_real(&rng));
        duration[i] = (uint64_t)ns;
        sketch_add(&sketch, duration[i]);
    }
    call_judge_fit(&j, ops, &opts, &sketch);
    for (int i = 0; i < CALLS; i++) {
        bool is_anomaly = call_judge_verdict(&j, duration[i], 0) == CALL_STRANGE;

        counts.n_injected += is_slow[i];
        counts.n_found += is_anomaly && is_slow[i];
        counts.n_false += is_anomaly && !is_slow[i];
    }
    call_judge_release(&j);
    sketch_release(&sketch);
    free(duration);
    free(is_slow);
    return counts;
}

static void clean_calls_raise_no_alarm(void **state)
{
    static draw_fn *const draws[] = {gaussian, lognormal, bimodal, constant, coarse};

    (void)state;
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++)
        assert_int_equal(judge(draws[i], 0, 0).n_false, 0);
}

static void slow_calls_are_found(void **state)
{
    static const struct {
        draw_fn *draw;
        double base; /* what is made longer; 0: the duration itself */
    } cases[] = {
        {gaussian, 0}, {lognormal, 0}, {bimodal, 17000}, {constant, 0}, {coarse, 3000}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct counts c = judge(cases[i].draw, 5e-4, cases[i].base);

        assert_true(c.n_injected > 30);
        assert_int_equal(c.n_found, c.n_injected);
        assert_true(c.n_false <= 0.02 * c.n_found);
    }
}

/* One call in fifty-five: no fewer are found, and the threshold stays where it was. */
static void many_slow_calls_do_not_hide_each_other(void **state)
{
    static draw_fn *const draws[] = {gaussian, lognormal, constant};

    (void)state;
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
        struct counts c = judge(draws[i], 0.018, 0);

        assert_true(c.n_injected > 1700);
        assert_true(c.n_found >= 0.99 * c.n_injected);
        assert_true(c.n_false <= 0.001 * c.n_found);
    }
}

static double heavy(struct rng *rng)
{
    return 1000 * pow(1 - rng_real(rng), -0.25);
}

/* A threshold that a hundred calls in a million are to be beyond has about that many. */
static void false_alarms_are_as_many_as_is_said(void **state)
{
    static draw_fn *const draws[] = {lognormal, heavy};
    static const struct call_detector_opts opts = {.p = 1e-4};

    (void)state;
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
        struct rng learnt = {21}, fresh = {22};
        struct sketch sketch;
        struct call_judge j = {0};
        int n = 0;

        sketch_init(&sketch);
        for (int k = 0; k < CALLS; k++)
            sketch_add(&sketch, (uint64_t)draws[i](&learnt));
        call_judge_fit(&j, call_detector_find("tails"), &opts, &sketch);
        for (int k = 0; k < 10 * CALLS; k++)
            n += call_judge_verdict(&j, (uint64_t)draws[i](&fresh), 0) == CALL_STRANGE;
        assert_true(n >= 40 && n <= 150);
        call_judge_release(&j);
        sketch_release(&sketch);
    }
}

/* Typically 1,000 ns: 2,000 ns are strange, but a microsecond was lost at most. */
static void what_differs_by_little_is_no_anomaly(void **state)
{
    static const struct call_detector_opts opts = {.p = 0};
    struct sketch sketch;
    struct call_judge j = {0};
    struct rng rng = {3};

    (void)state;
    sketch_init(&sketch);
    for (int i = 0; i < CALLS; i++)
        sketch_add(&sketch, (uint64_t)gaussian(&rng));
    call_judge_fit(&j, call_detector_find("tails"), &opts, &sketch);
    assert_int_equal(call_judge_verdict(&j, 1000, 500), CALL_TYPICAL);
    assert_int_equal(call_judge_verdict(&j, 4000, 500), CALL_STRANGE);
    assert_int_equal(call_judge_verdict(&j, 4000, 10000), CALL_SLIGHT);
    assert_int_equal(call_judge_verdict(&j, 10, 500), CALL_STRANGE);
    assert_int_equal(call_judge_verdict(&j, 10, 1000), CALL_SLIGHT);
    /* deviation 100: one in 500 is 288 above */
    assert_true(fabs(j.noise_ns - 288) < 30);
    call_judge_release(&j);
    sketch_release(&sketch);
}

static void the_least_effect_is_above_clock_and_noise(void **state)
{
    const struct call_detector_ops *tails = call_detector_find("tails");
    double noise[] = {9000, INFINITY, 2000, 1000, INFINITY, 40000, 3000}, none = INFINITY;

    (void)state;
    assert_true(call_noise(noise, 7) == 2000);
    assert_true(call_noise(&none, 1) == 0);
    assert_true(call_least_effect(tails, 1, 0) == 1000);
    assert_true(call_least_effect(tails, 1000, 200) == 10000);
    assert_true(call_least_effect(tails, 1, 2000) == 4000);
    assert_true(call_least_effect(call_detector_find("hbos"), 1, 2000) == 0);
}

/* Modes at 2 and 50 us: a call of 10 us belongs to neither. */
static void what_is_between_modes_is_strange(void **state)
{
    static const struct call_detector_opts opts = {.sigmas = 0};
    struct sketch sketch;
    struct call_judge j = {0};
    struct rng rng = {3};

    (void)state;
    sketch_init(&sketch);
    for (int i = 0; i < CALLS; i++)
        sketch_add(&sketch, (uint64_t)bimodal(&rng));
    call_judge_fit(&j, call_detector_find("tails"), &opts, &sketch);
    assert_int_equal(j.model.n_modes, 2);
    assert_true(call_judge_is_anomaly(&j, 10000));
    assert_false(call_judge_is_anomaly(&j, 2000));
    assert_true(call_judge_is_anomaly(&j, 100));
    call_judge_release(&j);
    sketch_release(&sketch);
}

/* The ranges are where p says so: on either side of every end. */
static void ranges_end_where_p_does(void **state)
{
    static const struct call_detector_opts opts = {.p = 1e-4};
    struct sketch sketch;
    struct call_judge j = {0};
    struct rng rng = {5};

    (void)state;
    sketch_init(&sketch);
    for (int i = 0; i < CALLS; i++)
        sketch_add(&sketch, (uint64_t)bimodal(&rng));
    call_judge_fit(&j, call_detector_find("tails"), &opts, &sketch);
    for (uint64_t ns = 1; ns < 1000000; ns += 1 + ns / 50) {
        struct call_judgement judgement = call_judge_score(&j, &sketch, ns);

        assert_true(judgement.p >= 0 && judgement.p <= 1 && isfinite(judgement.score));
        assert_int_equal(call_judge_is_anomaly(&j, ns), judgement.p < 1e-4);
    }
    call_judge_release(&j);
    sketch_release(&sketch);
}

static void one_call_is_not_strange(void **state)
{
    static const char *const names[] = {"tails", "sstd", "hbos", "copod"};
    static const struct call_detector_opts opts = {.sigmas = 0};
    struct sketch sketch;

    (void)state;
    sketch_init(&sketch);
    sketch_add(&sketch, 12345);
    for (int i = 0; i < 4; i++) {
        struct call_judge j = {0};

        call_judge_fit(&j, call_detector_find(names[i]), &opts, &sketch);
        assert_false(call_judge_is_anomaly(&j, 12345));
        call_judge_release(&j);
    }
    sketch_release(&sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_calls_raise_no_alarm),
        cmocka_unit_test(slow_calls_are_found),
        cmocka_unit_test(many_slow_calls_do_not_hide_each_other),
        cmocka_unit_test(false_alarms_are_as_many_as_is_said),
        cmocka_unit_test(what_differs_by_little_is_no_anomaly),
        cmocka_unit_test(the_least_effect_is_above_clock_and_noise),
        cmocka_unit_test(what_is_between_modes_is_strange),
        cmocka_unit_test(ranges_end_where_p_does),
        cmocka_unit_test(one_call_is_not_strange),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
