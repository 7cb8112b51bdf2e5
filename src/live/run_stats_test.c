#include "live/run_stats.h"

#include "base/rng.h"

#include "test.h"

static void assert_near(double x, double expected, double most)
{
    assert_true(fabs(x - expected) <= most);
}

/*
 * 1 2 3 10: mean 4, squares of the differences 9 4 1 36, together 50; cubes -27 -8 -1 216,
 * together 180; fourth powers 81 16 1 1296, together 1394.
 */
static void moments_of_four_numbers(void **state)
{
    struct moments m = {0};
    struct prov_stats s;

    (void)state;
    moments_add(&m, 2);
    moments_add(&m, 10);
    moments_add(&m, 1);
    moments_add(&m, 3);
    s = prov_stats_of(&m);
    assert_int_equal(s.count, 4);
    assert_true(s.accumulate == 16 && s.minimum == 1 && s.maximum == 10 && s.mean == 4);
    assert_near(s.stddev, sqrt(50.0 / 3), 1e-12);
    assert_near(s.skewness, (180.0 / 4) / pow(50.0 / 4, 1.5), 1e-12);
    assert_near(s.kurtosis, (1394.0 / 4) / (12.5 * 12.5) - 3, 1e-12);
}

static void numbers_below_zero_have_a_maximum_too(void **state)
{
    struct moments m = {0};

    (void)state;
    moments_add(&m, -3);
    moments_add(&m, -5);
    assert_true(prov_stats_of(&m).maximum == -3);
    assert_true(prov_stats_of(&m).minimum == -5);
}

static void one_number_has_no_spread(void **state)
{
    struct moments m = {0};
    struct prov_stats none = prov_stats_of(&m), one;

    (void)state;
    moments_add(&m, 7);
    one = prov_stats_of(&m);
    assert_true(none.count == 0 && none.mean == 0 && none.stddev == 0);
    assert_true(one.mean == 7 && one.stddev == 0 && one.skewness == 0 && one.kurtosis == 0);
}

/* Where every value has a bin of its own, nothing is lost; else no more than a bin is wide. */
static void a_sketch_has_the_moments_of_its_values(void **state)
{
    struct rng rng = {3};
    struct sketch small, large;
    struct moments m = {0}, n = {0};
    struct prov_stats exact, sketched;

    (void)state;
    sketch_init(&small);
    sketch_init(&large);
    for (int i = 0; i < 5000; i++) {
        uint64_t x = rng_below(&rng, 100), y = 1000000 + rng_below(&rng, 100) * x * x * 1000;

        sketch_add(&small, x);
        moments_add(&m, (double)x / 1e3);
        sketch_add(&large, y);
        moments_add(&n, (double)y / 1e3);
    }
    exact = prov_stats_of(&m);
    sketched = sketch_stats(&small);
    assert_near(sketched.stddev, exact.stddev, 1e-9 * exact.stddev);
    assert_near(sketched.skewness, exact.skewness, 1e-9);
    assert_near(sketched.kurtosis, exact.kurtosis, 1e-9);
    exact = prov_stats_of(&n);
    sketched = sketch_stats(&large);
    assert_near(sketched.mean, exact.mean, 1e-9 * exact.mean);
    assert_near(sketched.stddev, exact.stddev, 1e-9 * exact.stddev);
    assert_near(sketched.skewness, exact.skewness, 0.02 * fabs(exact.skewness));
    assert_near(sketched.kurtosis, exact.kurtosis, 0.02 * fabs(exact.kurtosis));
    sketch_release(&small);
    sketch_release(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_of_four_numbers),
        cmocka_unit_test(numbers_below_zero_have_a_maximum_too),
        cmocka_unit_test(one_number_has_no_spread),
        cmocka_unit_test(a_sketch_has_the_moments_of_its_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
