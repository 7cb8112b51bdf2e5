/* Against qsort, in all lengths and numbers of digits at which another way is taken. */
#include "base/radix.h"

#include "base/rng.h"

#include "test.h"

#define MAX_KEYS 9000

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void sorted_as_by_qsort(void **state)
{
    static const size_t length[] = {0, 1, 2, 47, 48, 49, 255, 4095, 4096, MAX_KEYS};
    static uint64_t x[MAX_KEYS], expected[MAX_KEYS], scratch[MAX_KEYS];
    struct rng rng = {1};

    (void)state;
    for (size_t l = 0; l < sizeof length / sizeof *length; l++)
        for (unsigned shift = 0; shift < 64; shift += 7) {
            size_t n = length[l];

            for (size_t i = 0; i < n; i++)
                x[i] = expected[i] = rng_next(&rng) >> shift;
            qsort(expected, n, sizeof *expected, ascending);
            radix_sort_u64(x, scratch, n);
            assert_memory_equal(x, expected, n * sizeof *x);
        }
}

static void narrow_numbers_too(void **state)
{
    static const size_t length[] = {1, 48, 49, 4095, 4096, MAX_KEYS};
    static uint32_t x[MAX_KEYS], scratch[MAX_KEYS];
    struct rng rng = {2};

    (void)state;
    for (size_t l = 0; l < sizeof length / sizeof *length; l++)
        for (unsigned shift = 32; shift < 64; shift += 5) {
            uint64_t sum = 0, sorted = 0;

            for (size_t i = 0; i < length[l]; i++)
                sum += x[i] = (uint32_t)(rng_next(&rng) >> shift);
            radix_sort_u32(x, scratch, length[l]);
            for (size_t i = 0; i < length[l]; i++) {
                assert_true(i == 0 || x[i - 1] <= x[i]);
                sorted += x[i];
            }
            assert_true(sum == sorted);
        }
}

static void doubles_on_both_sides_of_zero(void **state)
{
    static double x[MAX_KEYS];
    static uint64_t scratch[2 * MAX_KEYS];
    struct rng rng = {3};
    double sum = 0, sorted = 0;

    (void)state;
    for (size_t i = 0; i < MAX_KEYS; i++)
        x[i] = (double)((int64_t)(rng_next(&rng) >> 40) - (1 << 23)) / 1024;
    x[0] = -INFINITY;
    x[1] = INFINITY;
    x[2] = -0.0;
    x[3] = 1e-308;
    x[4] = -1e-308;
    x[5] = 0;
    for (size_t i = 2; i < MAX_KEYS; i++)
        sum += x[i];
    radix_sort_f64(x, scratch, MAX_KEYS);
    assert_true(x[0] == -INFINITY && x[MAX_KEYS - 1] == INFINITY);
    for (size_t i = 1; i < MAX_KEYS; i++)
        assert_true(x[i - 1] <= x[i]);
    for (size_t i = 1; i < MAX_KEYS - 1; i++)
        sorted += x[i];
    assert_true(fabs(sum - sorted) < 1e-6);
    radix_sort_f64(x, scratch, 1);
}

static void equal_numbers_and_a_digit_in_the_middle(void **state)
{
    uint64_t x[100], scratch[100];

    (void)state;
    for (size_t i = 0; i < 100; i++)
        x[i] = (uint64_t)1 << 60 | (i * 37 % 4) << 30 | 5;
    radix_sort_u64(x, scratch, 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(x[i], (uint64_t)1 << 60 | (i / 25) << 30 | 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_as_by_qsort),
        cmocka_unit_test(narrow_numbers_too),
        cmocka_unit_test(doubles_on_both_sides_of_zero),
        cmocka_unit_test(equal_numbers_and_a_digit_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
