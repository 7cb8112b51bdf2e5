#include "features/robust.h"

#include "base/radix.h"
#include "base/rng.h"

#include "test.h"

/* numpy.quantile([3, 1, 4, 1, 5, 9, 2, 6], q) */
static void quantiles_equal_numpys(void **state)
{
    static const double q[] = {0, 0.25, 0.5, 0.8413, 0.95, 1};
    static const double want[] = {1, 1.75, 3.5, 5.8891, 7.95, 9};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        double x[] = {3, 1, 4, 1, 5, 9, 2, 6};

        assert_true(fabs(robust_quantile(x, 8, q[i]) - want[i]) < 1e-12);
    }
}

static void any_order_gives_the_same_quantile(void **state)
{
    static double x[1001], copy[1001];
    struct rng rng = {1};

    (void)state;
    for (int round = 0; round < 200; round++) {
        size_t n = 1 + rng_below(&rng, 1001);

        for (size_t i = 0; i < n; i++)
            x[i] = (double)rng_below(&rng, round % 2 ? 5 : 100000);
        for (double q = 0; q <= 1; q += 0.1) {
            double value;
            size_t below = 0;

            memcpy(copy, x, n * sizeof *x);
            value = robust_quantile(copy, n, q);
            for (size_t i = 0; i < n; i++)
                below += x[i] < value;
            assert_true((double)below <= q * (double)(n - 1) + 1);
        }
    }
}

/* Of a normal distribution the width is its standard deviation; outliers do not move it. */
static void width_is_that_of_the_bulk(void **state)
{
    static double x[20000], scratch[20000];
    struct rng rng = {3};
    struct spread s;

    (void)state;
    for (size_t i = 0; i < 20000; i++)
        x[i] = 5 + 2 * rng_normal(&rng);
    s = robust_spread(x, scratch, 20000, 0.1);
    assert_true(fabs(s.centre - 5) < 0.05 && fabs(s.scale - 2) < 0.06);
    for (size_t i = 0; i < 400; i++)
        x[i] = 1e9;
    s = robust_spread(x, scratch, 20000, 0.1);
    assert_true(fabs(s.centre - 5) < 0.2 && s.scale < 2.4);
}

static void a_heavy_tail_widens(void **state)
{
    double x[100], scratch[100];

    (void)state;
    for (size_t i = 0; i < 100; i++)
        x[i] = i < 90 ? 1 : 9; /* a tenth is legitimately long */
    assert_true(robust_spread(x, scratch, 100, 0.1).scale > 4);
}

static double third(size_t i, const void *ctx)
{
    return ((const double *)ctx)[i];
}

static void groups_are_apart(void **state)
{
    static const uint32_t group[] = {2, 0, 2, 0, 2, 0, 2};
    static const double x[] = {10, 1, 12, 2, 11, 3, 13};
    const struct robust_items items = {7, group, 3, third, x, NULL};
    struct spread s[3];
    uint32_t n[3];

    (void)state;
    robust_groups(&items, 0.5, NULL, s, n);
    assert_int_equal(n[0], 3);
    assert_int_equal(n[1], 0);
    assert_int_equal(n[2], 4);
    assert_true(s[0].centre == 2 && s[2].centre == 11); /* of few it is one of them */
    assert_true(s[1].scale == 0.5);
}

/* To the bit, for all numbers of values, many of them equal. */
static void sorted_times_are_as_wide_as_their_logarithms(void **state)
{
    struct rng rng = {3};
    uint64_t time_ns[200], scratch_ns[200];
    uint32_t narrow_ns[200];
    double x[200], scratch[200];

    (void)state;
    for (size_t n = 1; n <= 200; n++)
        for (unsigned shift = 40; shift < 64; shift += 4) {
            struct spread expected, found;

            for (size_t i = 0; i < n; i++) {
                time_ns[i] = rng_next(&rng) >> shift;
                x[i] = log((double)time_ns[i] + 12.5);
            }
            expected = robust_spread(x, scratch, n, 0.1);
            radix_sort_u64(time_ns, scratch_ns, n);
            found = robust_log_times(&(struct sorted_times){NULL, time_ns, n}, 12.5, 0.1);
            assert_memory_equal(&found, &expected, sizeof found);
            for (size_t i = 0; i < n; i++)
                narrow_ns[i] = (uint32_t)time_ns[i];
            found = robust_log_times(&(struct sorted_times){narrow_ns, NULL, n}, 12.5, 0.1);
            assert_memory_equal(&found, &expected, sizeof found);
        }
}

static void a_median_moves_most_when_all_are_off_the_same_way(void **state)
{
    const double x[] = {5, 1, 3}, off[] = {0, 9, 1};

    (void)state; /* up: 5 10 4, down: 5 -8 2 */
    assert_float_equal(robust_median_off(x, off, 3), 2, 0);
    assert_float_equal(robust_median_off(x, (double[]){0, 0, 0}, 3), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_median_moves_most_when_all_are_off_the_same_way),
        cmocka_unit_test(quantiles_equal_numpys),
        cmocka_unit_test(any_order_gives_the_same_quantile),
        cmocka_unit_test(width_is_that_of_the_bulk),
        cmocka_unit_test(a_heavy_tail_widens),
        cmocka_unit_test(groups_are_apart),
        cmocka_unit_test(sorted_times_are_as_wide_as_their_logarithms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
