/*
 * The series of other tools' own tests, with the change points that these expect (Hunter and
 * Apache Otava: analysis_test.py, series_test.py, change_point_divisive_test.py), and what
 * chance finds where there is nothing.
 */
#include "compare/trend.h"

#include "base/rng.h"

#include <math.h>

#include "test.h"

#define N(x) ((uint32_t)(sizeof(x) / sizeof((x)[0])))

static void assert_changes(const double *value, uint32_t n, double chance, const uint32_t *at,
                           uint32_t n_expected)
{
    struct change_point found[CHANGE_POINTS_MAX_VALUES];
    uint32_t n_found = change_points_find(value, n, chance, found);

    assert_int_equal(n_found, n_expected);
    for (uint32_t i = 0; i < n_found; i++)
        assert_int_equal(found[i].at, at[i]);
}

static void a_step_down_is_found_where_it_is(void **state)
{
    const double single[] = {1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96,
                             0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49, 0.51, 0.50, 0.49};
    const double first[] = {1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55};
    const double second[] = {2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78};

    (void)state;
    assert_changes(single, N(single), CHANGE_POINTS_CHANCE, (uint32_t[]){10}, 1);
    assert_changes(first, N(first), CHANGE_POINTS_CHANCE, (uint32_t[]){6}, 1);
    assert_changes(second, N(second), CHANGE_POINTS_CHANCE, (uint32_t[]){4}, 1);
}

static void several_are_found_one_after_the_other(void **state)
{
    const double levels[] = {0.3,  2.4,   1.5,   -0.9,  -0.5,  99.7,  98.3,
                             99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0};
    const double many[] = {1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 5, 5, 9, 9,
                           9, 9, 9, 9, 9, 9, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    const double zeros[] = {0, 0, 0, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55};

    (void)state;
    assert_changes(levels, N(levels), 0.05, (uint32_t[]){5, 8},
                   2); /* 3 and 6: 1 in 42 orders */
    assert_changes(many, N(many), 0.05, (uint32_t[]){5, 13, 21}, 3);
    assert_changes(zeros, N(zeros), 0.05, (uint32_t[]){3, 6}, 2);
}

static void a_change_has_the_means_of_both_sides(void **state)
{
    const double x[] = {1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3};
    struct change_point found[N(x)];

    (void)state;
    assert_int_equal(change_points_find(x, N(x), CHANGE_POINTS_CHANCE, found), 1);
    assert_float_equal(found[0].before, 1, 1e-12);
    assert_float_equal(found[0].after, 3, 1e-12);
    assert_true(found[0].chance <= CHANGE_POINTS_CHANCE && found[0].chance > 0);
}

/* Of the 924 ways to choose 6 of 12 two put the same values on the two sides, of 3,432 of 7 of 14,
 * too. A path, which has to be surer than one in a thousand, changes from then on. */
static void the_same_sides_by_chance_count(void **state)
{
    const double x[] = {1.00, 1.02, 0.97, 1.01, 0.98, 1.03, 0.99,
                        2.01, 1.97, 2.03, 2.00, 1.99, 2.02, 1.96};
    struct change_point found[N(x)];

    (void)state;
    assert_int_equal(change_points_find(x + 1, 12, CHANGE_POINTS_CHANCE, found), 1);
    assert_int_equal(found[0].at, 6);
    assert_in_range(found[0].chance * 1e6, 1600, 3000); /* 2,165 */
    assert_int_equal(change_points_find(x + 1, 12, TREND_PATH_CHANCE, found), 0);
    assert_int_equal(change_points_find(x, N(x), TREND_PATH_CHANCE, found), 1);
    assert_int_equal(found[0].at, 7);
}

/* At one in a hundred, one series of a hundred is expected to have one. */
static void flat_series_have_hardly_any(void **state)
{
    struct change_point found[60];
    uint32_t n_found = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rng rng = {seed};
        double x[60];

        for (uint32_t i = 0; i < N(x); i++)
            x[i] = 1 + 0.02 * rng_normal(&rng);
        n_found += change_points_find(x, N(x), CHANGE_POINTS_CHANCE, found);
    }
    assert_in_range(n_found, 0, 2);
}

static void what_is_too_short_or_all_the_same_has_none(void **state)
{
    const double same[50] = {0};
    struct change_point found[50];

    (void)state;
    assert_int_equal(change_points_find(same, 50, 0.05, found), 0);
    assert_int_equal(change_points_find(same, 3, 0.05, found), 0);
    assert_int_equal(change_points_find(same, 0, 0.05, found), 0);
}

/* Of 6 and 4 one order in 105 has the same values on the two sides, of 5 and 4 one in 63. */
static void how_few_values_can_tell_a_change_is_known(void **state)
{
    double x[21];
    struct change_point found[N(x)];

    (void)state;
    assert_int_equal(change_points_least_values(CHANGE_POINTS_CHANCE), 10);
    assert_int_equal(change_points_least_side(9, CHANGE_POINTS_CHANCE), 0);
    assert_int_equal(change_points_least_side(10, CHANGE_POINTS_CHANCE), 4);
    assert_int_equal(change_points_least_side(12, CHANGE_POINTS_CHANCE), 3);
    assert_int_equal(change_points_least_side(21, CHANGE_POINTS_CHANCE), 2);
    for (uint32_t n = 4; n <= N(x); n++)
        for (uint32_t m = 2; m <= n / 2; m++) {
            uint32_t least = change_points_least_side(n, CHANGE_POINTS_CHANCE);

            for (uint32_t i = 0; i < n; i++)
                x[i] = (i < n - m ? 2 : 20) + 0.001 * i;
            if (least == 0 || m < least)
                assert_int_equal(change_points_find(x, n, CHANGE_POINTS_CHANCE, found), 0);
        }
}

static void fill(double *x, uint32_t n, uint32_t at, double factor, uint64_t seed)
{
    struct rng rng = {seed};

    for (uint32_t i = 0; i < n; i++)
        x[i] = (i < at ? 1 : factor) * exp(0.02 * rng_normal(&rng));
}

static void among_few_values_a_plain_change_is_suspected(void **state)
{
    static const uint32_t split[][2] = {{4, 4}, {7, 3}, {8, 2}, {3, 7}, {4, 5}, {2, 2}, {9, 1}};
    struct change_point found;
    double x[10];

    (void)state;
    for (uint32_t i = 0; i < N(split); i++) {
        uint32_t n = split[i][0] + split[i][1];

        fill(x, n, split[i][0], 10, i + 1);
        assert_true(change_point_suspect(x, n, split[i][1] == 1 ? 1 : 2, &found));
        assert_int_equal(found.at, split[i][0]);
        assert_float_equal(found.after / found.before, 10, 0.6);
    }
    fill(x, 10, 9, 10, 1); /* the last value alone is no change of them */
    assert_false(change_point_suspect(x, 10, 2, &found));
}

/* Whether a warning by either of the two rules is one too many: of a hundred about one is. */
static void values_that_did_not_change_are_hardly_suspected(void **state)
{
    struct change_point found[12];
    uint32_t n_suspected = 0, n_warned = 0, n_series = (uint32_t)test_amount(4000, 400);

    (void)state;
    for (uint32_t seed = 1; seed <= n_series; seed++) {
        uint32_t n = 4 + seed % 9;
        bool is_suspected;
        double x[12];

        fill(x, n, 0, 1, seed);
        is_suspected = change_point_suspect(x, n, 2, found);
        n_suspected += is_suspected;
        n_warned += is_suspected || change_points_find(x, n, CHANGE_POINTS_CHANCE, found) > 0;
    }
    assert_true(n_suspected <= 0.003 * n_series + 1);
    assert_true(n_warned <= 0.01 * n_series);
}

static void what_is_less_than_a_change_is_not_suspected(void **state)
{
    const double x[] = {1.00001, 1, 1.00001, 1, 1.005, 1.00501, 1.005, 1.00501};
    struct change_point found;

    (void)state;
    assert_false(change_point_suspect(x, N(x), 2, &found));
    assert_false(change_point_suspect(x, 2, 1, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_down_is_found_where_it_is),
        cmocka_unit_test(several_are_found_one_after_the_other),
        cmocka_unit_test(a_change_has_the_means_of_both_sides),
        cmocka_unit_test(the_same_sides_by_chance_count),
        cmocka_unit_test(flat_series_have_hardly_any),
        cmocka_unit_test(what_is_too_short_or_all_the_same_has_none),
        cmocka_unit_test(how_few_values_can_tell_a_change_is_known),
        cmocka_unit_test(among_few_values_a_plain_change_is_suspected),
        cmocka_unit_test(values_that_did_not_change_are_hardly_suspected),
        cmocka_unit_test(what_is_less_than_a_change_is_not_suspected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
