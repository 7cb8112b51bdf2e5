/* Against counting one by one, with values that repeat and values that are not there. */
#include "base/search.h"

#include "test.h"

static const uint32_t number[] = {2, 2, 3, 5, 5, 5, 8};
#define N (sizeof number / sizeof number[0])

static void bounds_count_what_is_below(void **state)
{
    uint64_t wide[N];
    double real[N];

    (void)state;
    for (size_t i = 0; i < N; i++)
        real[i] = (double)(wide[i] = number[i]);
    for (size_t n = 0; n <= N; n++) {
        for (uint32_t value = 0; value < 10; value++) {
            size_t below = 0, above = 0;

            for (size_t i = 0; i < n; i++) {
                below += number[i] < value;
                above += number[i] > value;
            }
            assert_int_equal(lower_bound_u32(number, n, value), below);
            assert_int_equal(lower_bound_u64(wide, n, value), below);
            assert_int_equal(lower_bound_f64(real, n, value), below);
            assert_int_equal(upper_bound_u64(wide, n, value), n - above);
        }
    }
    assert_int_equal(upper_bound_u64(wide, N, UINT64_MAX), N);
}

static void an_interval_is_the_last_that_begins_before(void **state)
{
    size_t begin[N];

    (void)state;
    for (size_t i = 0; i < N; i++)
        begin[i] = number[i];
    for (size_t n = 0; n <= N; n++) {
        for (uint32_t value = 0; value < 10; value++) {
            size_t last = 0;

            for (size_t i = 0; i < n; i++)
                if (number[i] <= value)
                    last = i;
            assert_int_equal(interval_of_u32(number, n, value), last);
            assert_int_equal(interval_of_size(begin, n, value), last);
        }
    }
    assert_int_equal(interval_of_u32(number, N, UINT32_MAX), N - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_count_what_is_below),
        cmocka_unit_test(an_interval_is_the_last_that_begins_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
