/* Numbers worked by hand, with the quantiles of the tables. */
#include "compare/replicates.h"

#include "test.h"

static void two_samples_are_compared_as_welch_does(void **state)
{
    const double value[] = {1, 2, 3, 5, 7};
    const struct repeated x = {.value = value, .n = {3, 2}, .least = 1e-9};
    struct replicates r;

    (void)state;
    replicates_of(&x, &r);
    assert_float_equal(r.difference, 4, 1e-12);
    assert_float_equal(r.error, sqrt(1.0 / 3 + 1), 1e-12);
    assert_float_equal(r.freedom, (16.0 / 9) / (1.0 / 18 + 1), 1e-12);
}

/* Mean 3, standard deviation sqrt(2.5); one more is within 3 +- 2.776 sqrt(2.5 * 6 / 5). */
static void one_value_is_held_against_where_the_next_of_the_others_would_be(void **state)
{
    const double value[] = {1, 2, 3, 4, 5, 7};
    const struct repeated x = {.value = value, .n = {5, 1}, .least = 1e-9};
    struct replicates r;

    (void)state;
    replicates_of(&x, &r);
    assert_float_equal(r.freedom, 4, 0);
    assert_float_equal(replicates_margin(&r, 0.95), 2.776445 * sqrt(3), 1e-5);
    assert_float_equal(replicates_margin(&r, 0.95) > fabs(r.difference), 1, 0);
    assert_true(replicates_chance(&r) > 0.05 && replicates_chance(&r) < 0.1);
}

/* The last is known to +-10 only. */
static void a_value_that_is_known_badly_is_not_far_from_the_others(void **state)
{
    const double value[] = {1, 2, 3, 4, 5, 70}, own[] = {0, 0, 0, 0, 0, 100};
    struct repeated x = {.value = value, .n = {5, 1}, .least = 1e-9};
    struct replicates r, badly;

    (void)state;
    replicates_of(&x, &r);
    x.own = own;
    replicates_of(&x, &badly);
    assert_float_equal(badly.error, sqrt(0.5 + 100), 1e-9);
    assert_true(replicates_chance(&r) < replicates_chance(&badly));
}

static void of_one_value_on_each_side_nothing_is_known(void **state)
{
    const double value[] = {1, 7};
    const struct repeated x = {.value = value, .n = {1, 1}, .least = 1e-9};
    struct replicates r;

    (void)state;
    replicates_of(&x, &r);
    assert_true(replicates_chance(&r) == 1);
    assert_true(isinf(replicates_margin(&r, 0.95)));
    assert_int_equal(replicates_needed(&r, 0.95, 1), MAX_REPLICATES);
}

/* 2.306 sqrt(2 / 5) is 1.458, and 2.447 sqrt(2 / 4) is 1.730. */
static void it_is_said_how_many_it_would_take(void **state)
{
    struct replicates r = {.difference = 0, .error = 1, .freedom = 4, .width = 1};

    (void)state;
    assert_int_equal(replicates_needed(&r, 0.95, 1.5), 5);
    assert_int_equal(replicates_needed(&r, 0.95, 1.75), 4);
}

/* The example of Benjamini and Hochberg 1995, section 4.2, its fifteen, at 0.05. */
static void discoveries_are_those_of_the_paper(void **state)
{
    double p[] = {0.3240, 0.0001, 0.0004, 0.0459, 0.0019, 0.0095, 0.0201, 0.0278,
                  0.0298, 0.0344, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    double none[] = {0.4, 0.9};

    (void)state;
    assert_float_equal(replicates_limit(p, 15, 0.05), 0.0095, 0);
    assert_true(replicates_limit(none, 2, 0.05) < 0);
    assert_true(replicates_limit(none, 0, 0.05) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_samples_are_compared_as_welch_does),
        cmocka_unit_test(one_value_is_held_against_where_the_next_of_the_others_would_be),
        cmocka_unit_test(a_value_that_is_known_badly_is_not_far_from_the_others),
        cmocka_unit_test(of_one_value_on_each_side_nothing_is_known),
        cmocka_unit_test(it_is_said_how_many_it_would_take),
        cmocka_unit_test(discoveries_are_those_of_the_paper),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
