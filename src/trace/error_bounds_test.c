/* Quantiles of what estimates are off by, against those of the numbers themselves. */
#include "trace/error_bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void quantiles_are_a_fifth_too_large_at_most(void **state)
{
    struct error_bounds b = {0}, twice = {0};

    (void)state;
    for (uint64_t ns = 1; ns <= 100000; ns++)
        b.n_off[error_bounds_bin(ns)]++;
    assert_int_equal(error_bounds_count(&b), 100000);
    for (int percent = 1; percent <= 100; percent++) {
        double found = error_bounds_quantile(&b, percent / 100.0);

        assert_true(found >= 1000.0 * percent && found <= 1.2 * 1000.0 * percent);
    }
    error_bounds_add(&twice, &b);
    error_bounds_add(&twice, &b);
    assert_int_equal(error_bounds_count(&twice), 200000);
    assert_true(error_bounds_quantile(&twice, 0.5) == error_bounds_quantile(&b, 0.5));
}

static void all_numbers_have_a_bin(void **state)
{
    struct error_bounds none = {0};

    (void)state;
    assert_int_equal(error_bounds_bin(0), 0);
    assert_int_equal(error_bounds_bin(1), 0);
    assert_int_equal(error_bounds_bin(1024), 40);
    assert_int_equal(error_bounds_bin(UINT64_MAX), ERROR_BOUND_BINS - 1);
    assert_true(error_bounds_quantile(&none, 0.5) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_a_fifth_too_large_at_most),
        cmocka_unit_test(all_numbers_have_a_bin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
