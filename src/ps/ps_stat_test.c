#include "ps/ps_stat.h"

#include <float.h>
#include <math.h>

#include "test.h"

/* -3 1 5: sum 3, squares 9 + 1 + 25. */
static void whole_numbers_by_hand(void **state)
{
    struct ps_stat s = {0};

    (void)state;
    ps_stat_add(&s, 1);
    ps_stat_add(&s, -3);
    ps_stat_add(&s, 5);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.whole.min, -3);
    assert_int_equal(s.whole.max, 5);
    assert_true(s.whole.sum == 3 && s.whole.square_sum == 35);
}

/* Of -1 0 1 sqrt(2/3), wherever these are: squares of 10^15 have no digit left for them. */
static void a_steady_counter_deviates_by_little(void **state)
{
    static const int64_t at[] = {0, 1000000000000000, -1000000000000000};

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct ps_stat whole = {0}, real = {0};

        for (int i = -1; i <= 1; i++) {
            ps_stat_add(&whole, at[k] + i);
            ps_stat_add_real(&real, 0.1 + (double)at[k]);
        }
        assert_true(fabs(ps_stat_deviation(&whole) - sqrt(2.0 / 3)) < 1e-9);
        assert_true(ps_stat_deviation(&real) == 0);
    }
}

static void real_numbers_deviate(void **state)
{
    struct ps_stat s = {0};

    (void)state;
    ps_stat_add_real(&s, 1);
    ps_stat_add_real(&s, 2);
    assert_true(ps_stat_deviation(&s) == 0.5);
}

/* A maximum that begins at the smallest positive number is wrong for negative ones. */
static void all_negative_values_have_a_negative_maximum(void **state)
{
    struct ps_stat s = {0};

    (void)state;
    ps_stat_add_real(&s, -2.5);
    ps_stat_add_real(&s, -1.5);
    assert_true(s.real.max == -1.5 && s.real.min == -2.5 && s.real.sum == -4);
}

/* 2 -1 | 7 4 | 3: extremes and sums are those of all. */
static void statistics_of_parts_merge_to_those_of_all(void **state)
{
    struct ps_stat real[3] = {{0}}, whole[3] = {{0}};
    static const int part[] = {0, 0, 1, 1, 2}, value[] = {2, -1, 7, 4, 3};

    (void)state;
    for (int i = 0; i < 5; i++) {
        ps_stat_add(&whole[part[i]], value[i]);
        ps_stat_add_real(&real[part[i]], value[i]);
    }
    for (int i = 1; i < 3; i++) {
        assert_true(ps_stat_merge(&whole[0], &whole[i]));
        assert_true(ps_stat_merge(&real[0], &real[i]));
    }
    assert_int_equal(whole[0].n, 5);
    assert_true(whole[0].whole.min == -1 && whole[0].whole.max == 7);
    assert_true(whole[0].whole.sum == 15 && whole[0].whole.square_sum == 79);
    assert_true(real[0].real.min == -1 && real[0].real.max == 7);
    assert_true(real[0].real.sum == 15 && real[0].real.square_sum == 79);
}

static void kinds_do_not_mix(void **state)
{
    struct ps_stat whole = {0}, real = {0};

    (void)state;
    ps_stat_add(&whole, 1);
    ps_stat_add_real(&real, 1);
    assert_false(ps_stat_merge(&whole, &real));
    assert_int_equal(whole.n, 1);
}

static void extremes_stay_finite_and_counts_in_62_bits(void **state)
{
    struct ps_stat s = {0}, many = {.n = UINT64_MAX >> 2};

    (void)state;
    ps_stat_add_real(&s, DBL_MAX);
    ps_stat_add_real(&s, DBL_MAX);
    ps_stat_add_real(&s, -INFINITY);
    ps_stat_add_real(&s, NAN);
    assert_true(isfinite(s.real.sum) && isfinite(s.real.square_sum));
    assert_false(ps_stat_merge(&many, &(struct ps_stat){.n = 1}));
    assert_true(many.n == UINT64_MAX >> 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_by_hand),
        cmocka_unit_test(a_steady_counter_deviates_by_little),
        cmocka_unit_test(real_numbers_deviate),
        cmocka_unit_test(all_negative_values_have_a_negative_maximum),
        cmocka_unit_test(statistics_of_parts_merge_to_those_of_all),
        cmocka_unit_test(kinds_do_not_mix),
        cmocka_unit_test(extremes_stay_finite_and_counts_in_62_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
