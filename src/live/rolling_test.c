/* Sums over a window that comes and goes against the same from all values in it. */
#include "live/rolling.h"

#include "base/err.h"
#include "base/rng.h"

#include "sample_forest.h"
#include "test.h"

static struct rolling_opts opts_of(const char *features)
{
    struct rolling_opts opts = {.window_ns = 1000, .sigmas = 3, .least = 2};

    opts.n_features = (uint32_t)tree_features_parse(features, opts.feature);
    return opts;
}

/* 2, 4, 4, 4, 5, 5, 7, 9 ms: mean 5, deviation 2 (the textbook's). */
static void mean_and_deviation_by_hand(void **state)
{
    static const uint64_t ms[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct rolling_opts opts = opts_of("duration");
    struct rolling_score score;
    struct rolling r;
    uint64_t next = 11000000;
    char why[ROLLING_WHY_SIZE];

    (void)state;
    opts.is_plain = true;
    rolling_init(&r, &opts);
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t value = ms[i] * 1000000;

        score = rolling_judge(&r, i, &value);
        assert_true(i < 2 ? isnan(score.sigmas) : score.n == i);
    }
    assert_true(rolling_mean(&r, 0) == 5e6);
    assert_true(rolling_deviation(&r, 0) == 2e6);
    score = rolling_judge(&r, 8, &next);
    assert_true(score.sigmas == 3 && score.deviation == 2e6);
    assert_string_equal(rolling_why(&r, &score, why),
                        "took 11.0 ms, 3.0 deviations more than the mean of the 8 executions "
                        "before it, 5.00 ms");
    rolling_release(&r);
}

/* What is older than the window leaves nothing behind, however large it was. */
static void forgetting_is_exact(void **state)
{
    struct rolling_opts opts = opts_of("duration,calls");
    struct rolling r, fresh;
    struct rng rng = {1};
    uint64_t value[2], exit_ns = 0;

    (void)state;
    opts.is_plain = true;
    opts.window_ns = 4000;
    rolling_init(&r, &opts);
    for (int i = 0; i < 5000; i++) {
        value[0] = i % 7 ? 1 + rng_below(&rng, 100) : TREE_FEATURE_MAX;
        value[1] = TREE_FEATURE_MAX - rng_below(&rng, 1000);
        rolling_judge(&r, exit_ns += 3, value);
    }
    rolling_init(&fresh, &opts);
    for (int i = 0; i < 900; i++) {
        value[0] = 40 + rng_below(&rng, 3);
        value[1] = TREE_FEATURE_MAX - rng_below(&rng, 2);
        exit_ns += i ? 4 : 5000;
        rolling_judge(&r, exit_ns, value);
        rolling_judge(&fresh, exit_ns, value);
    }
    assert_int_equal(r.n, fresh.n);
    for (uint32_t f = 0; f < 2; f++) {
        assert_true(rolling_mean(&r, f) == rolling_mean(&fresh, f));
        assert_true(rolling_deviation(&r, f) == rolling_deviation(&fresh, f));
        assert_true(rolling_deviation(&r, f) > 0 && rolling_deviation(&r, f) < 2);
    }
    rolling_release(&r);
    rolling_release(&fresh);
}

/* One in a hundred takes 50 times as long: what is typical stays about what it was, or not. */
static double deviation_among_extremes(bool is_plain, uint32_t *n_found)
{
    struct rolling_opts opts = opts_of("duration");
    struct rolling r;
    struct rng rng = {3};
    double deviation;

    opts.window_ns = UINT64_MAX;
    opts.least = 30;
    opts.is_plain = is_plain;
    rolling_init(&r, &opts);
    *n_found = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        double d = i % 100 == 99 ? 50 : 1 + 0.1 * rng_normal(&rng);
        uint64_t value = (uint64_t)llrint(d * 1e6);
        struct rolling_score score = rolling_judge(&r, i, &value);

        *n_found += i % 100 == 99 && score.sigmas > 20;
    }
    deviation = rolling_deviation(&r, 0);
    rolling_release(&r);
    return deviation;
}

static void extremes_do_not_widen_what_is_usual(void **state)
{
    uint32_t n_found, n_found_plain;

    (void)state;
    assert_true(deviation_among_extremes(false, &n_found) < 0.16e6);
    assert_true(deviation_among_extremes(true, &n_found_plain) > 4e6);
    assert_int_equal(n_found, 50);
    assert_true(n_found_plain < 5);
}

/*
 * Of the first 30 executions some are a hundred times as long, then one in a hundred is ten
 * times: how many of these 19 are found, and how wide what is typical is, in the end of the
 * begin and after it.
 */
static uint32_t found_after_a_slow_start(uint32_t n_slow, bool is_plain, double *deviation,
                                         double *begin)
{
    struct rolling_opts opts = opts_of("duration");
    struct rolling r;
    struct rng rng = {7};
    uint32_t n_found = 0;

    opts.window_ns = UINT64_MAX;
    opts.least = 30;
    opts.sigmas = 6;
    opts.is_plain = is_plain;
    rolling_init(&r, &opts);
    for (uint64_t i = 0; i < 2000; i++) {
        double d = 1e7 * (1 + 0.02 * rng_normal(&rng));
        double times = i < n_slow ? 100 : i >= 100 && i % 100 == 99 ? 10 : 1;
        uint64_t value = (uint64_t)llrint(d * times);

        n_found += rolling_judge(&r, i, &value).sigmas > opts.sigmas && times > 1;
        if (i == 29)
            *begin = rolling_deviation(&r, 0);
    }
    *deviation = rolling_deviation(&r, 0);
    rolling_release(&r);
    return n_found;
}

static void a_slow_start_does_not_hide_what_comes(void **state)
{
    double deviation, begin, plain;

    (void)state;
    assert_int_equal(found_after_a_slow_start(7, false, &deviation, &begin), 19);
    assert_true(begin < 1.3e6 && deviation < 6e5);
    assert_int_equal(found_after_a_slow_start(14, false, &deviation, &begin), 19);
    assert_true(found_after_a_slow_start(7, true, &deviation, &begin) < 19);
    /* Where nothing is extreme, values count as they are. */
    assert_int_equal(found_after_a_slow_start(0, false, &deviation, &begin), 19);
    found_after_a_slow_start(0, true, &deviation, &plain);
    assert_true(begin == plain && plain > 1e5 && plain < 3e5);
}

/* A pause longer than the window, and a slow start again; what is forgotten leaves nothing. */
static void every_begin_is_clamped(void **state)
{
    struct rolling_opts opts = opts_of("duration");
    struct rolling r;

    (void)state;
    opts.window_ns = 1000;
    opts.least = 30;
    rolling_init(&r, &opts);
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t value = i < 5 ? 1000000000 : 10000000;

            rolling_judge(&r, 5000 * round + i, &value);
        }
        assert_int_equal(r.n, 200);
        assert_true(rolling_mean(&r, 0) < 1.2e7);
    }
    rolling_release(&r);
}

/* Ten times slower from now on: strange at first, then typical. */
static void a_new_pace_is_learnt(void **state)
{
    struct rolling_opts opts = opts_of("duration");
    struct rolling r;
    struct rng rng = {5};
    uint32_t n_first = 0, n_last = 0;

    (void)state;
    opts.window_ns = 500;
    opts.least = 30;
    rolling_init(&r, &opts);
    for (uint64_t i = 0; i < 3000; i++) {
        double typical = i < 1000 ? 1e6 : 1e7;
        uint64_t value = (uint64_t)llrint(typical * exp(0.1 * rng_normal(&rng)));
        struct rolling_score score = rolling_judge(&r, i, &value);

        n_first += i >= 1000 && i < 1010 && score.sigmas > 3;
        n_last += i >= 2000 && score.sigmas > 3;
    }
    assert_int_equal(n_first, 10);
    assert_true(n_last < 15);
    assert_true(fabs(rolling_mean(&r, 0) - 1e7) < 1e6);
    rolling_release(&r);
}

static void features_are_named_once_and_known(void **state)
{
    const struct tree_feature *feature[MAX_TREE_FEATURES];

    (void)state;
    assert_int_equal(
        tree_features_parse("duration,exclusive,exit,messages,rate,calls,depth", feature), 7);
    assert_string_equal(feature[6]->name, "depth");
    assert_int_equal(tree_features_parse("duration,duration", feature), ERR_USAGE);
    assert_int_equal(tree_features_parse("", feature), ERR_USAGE);
    assert_int_equal(tree_features_parse("duration,", feature), ERR_USAGE);
    assert_int_equal(tree_features_parse("durations", feature), ERR_USAGE);
    assert_non_null(strstr(err_message(), "'durations'; there are duration, exclusive"));
}

/* An execution of 5 calls, the second one of 2: of 10 + 30 + 5 + 5 + 50 ns, and of 100 + 10. */
static void features_of_an_execution_by_hand(void **state)
{
    static const struct {
        const char *name;
        uint64_t value[2];
    } want[] = {{"duration", {100, 110}}, {"exclusive", {10, 100}}, {"exit", {1100, 2110}},
                {"messages", {4, 0}},     {"rate", {40000000, 0}},  {"calls", {5, 2}},
                {"depth", {3, 2}}};
    uint64_t n_calls[] = {5, 2};
    struct live_forest lf = {.n_calls = n_calls};
    struct definitions defs = {0};

    (void)state;
    sample_forest("A:10(B:30(D:5 E:5) C:50) A:100(C:10)", &defs, &lf.forest);
    for (uint32_t t = 0; t < 2; t++)
        lf.forest.enter_ns[t] = 1000 * (t + 1);
    lf.forest.n_messages[0] = 4;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct tree_feature *feature[MAX_TREE_FEATURES];

        assert_int_equal(tree_features_parse(want[i].name, feature), 1);
        for (uint32_t t = 0; t < 2; t++)
            assert_int_equal(tree_feature_value(feature[0], &lf, t), want[i].value[t]);
    }
    forest_release(&lf.forest);
    definitions_release(&defs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_deviation_by_hand),
        cmocka_unit_test(forgetting_is_exact),
        cmocka_unit_test(extremes_do_not_widen_what_is_usual),
        cmocka_unit_test(a_slow_start_does_not_hide_what_comes),
        cmocka_unit_test(every_begin_is_clamped),
        cmocka_unit_test(a_new_pace_is_learnt),
        cmocka_unit_test(features_are_named_once_and_known),
        cmocka_unit_test(features_of_an_execution_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
