/* The values are those of the tables printed in every book, as R's pt and qt give them. */
#include "base/student.h"

#include "test.h"

static void tails_are_those_of_the_tables(void **state)
{
    (void)state;
    assert_float_equal(student_tail(0, 3), 0.5, 1e-12);
    assert_float_equal(student_tail(1, 1), 0.25, 1e-10);
    assert_float_equal(student_tail(2.776445, 4), 0.025, 1e-7);
    assert_float_equal(student_tail(4.604095, 4), 0.005, 1e-8);
    assert_float_equal(student_tail(1.959964, 1e6), 0.025, 1e-5);
}

static void a_quantile_undoes_a_tail(void **state)
{
    (void)state;
    assert_float_equal(student_quantile(0.025, 1), 12.7062, 1e-4);
    assert_float_equal(student_quantile(0.025, 4), 2.776445, 1e-6);
    for (double nu = 1; nu < 40; nu *= 1.7)
        for (double p = 1e-6; p < 0.5; p *= 3)
            assert_float_equal(student_tail(student_quantile(p, nu), nu) / p, 1, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_those_of_the_tables),
        cmocka_unit_test(a_quantile_undoes_a_tail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
