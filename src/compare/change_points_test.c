/*
 * The series of other tools' own tests, with the change points that these expect (Hunter and
 * Apache Otava: analysis_test.py, series_test.py, change_point_divisive_test.py), and what
 * chance finds where there is nothing.
 */
#include "compare/trend.h"

#include "base/rng.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_down_is_found_where_it_is),
        cmocka_unit_test(several_are_found_one_after_the_other),
        cmocka_unit_test(a_change_has_the_means_of_both_sides),
        cmocka_unit_test(the_same_sides_by_chance_count),
        cmocka_unit_test(flat_series_have_hardly_any),
        cmocka_unit_test(what_is_too_short_or_all_the_same_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
