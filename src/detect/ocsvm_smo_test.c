#include "detect/ocsvm.h"

#include "test.h"

/*
 * Three points on a line at 0, 1, 3 with a kernel of 1, .5, 0 by distance 0, 1, more: the first
 * two share, the last is alone. With a sum of 1 and wide bounds, G is the same for all:
 * a + b/2 = b + a/2 = c, so a = b = 2c/3, c = 3/7, a = b = 2/7.
 */
static const float kernel[] = {1, 0.5F, 0, 0.5F, 1, 0, 0, 0, 1};

static void free_variables_have_equal_gradients(void **state)
{
    double upper[] = {1, 1, 1}, alpha[] = {1, 0, 0}, gradient[] = {1, 0.5, 0};
    struct ocsvm_smo smo = {3, kernel, upper, alpha, gradient};

    (void)state;
    ocsvm_smo_solve(&smo, 1e-12);
    assert_true(fabs(alpha[0] - 2.0 / 7) < 1e-9);
    assert_true(fabs(alpha[1] - 2.0 / 7) < 1e-9);
    assert_true(fabs(alpha[2] - 3.0 / 7) < 1e-9);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(gradient[i] - 3.0 / 7) < 1e-9);
}

/* With the lonely one held to 0.1, the others share the rest: 0.45 each, exactly at its bound.
 */
static void bounds_are_reached_exactly(void **state)
{
    double upper[] = {1, 1, 0.1}, alpha[] = {1, 0, 0}, gradient[] = {1, 0.5, 0};
    struct ocsvm_smo smo = {3, kernel, upper, alpha, gradient};

    (void)state;
    ocsvm_smo_solve(&smo, 1e-12);
    assert_true(alpha[2] == 0.1);
    assert_true(fabs(alpha[0] - 0.45) < 1e-9);
    assert_true(fabs(alpha[1] - 0.45) < 1e-9);
}

/* Equal points: the curvature between them is 0. */
static void equal_points_end(void **state)
{
    static const float ones[] = {1, 1, 1, 1};
    double upper[] = {1, 1}, alpha[] = {1, 0}, gradient[] = {1, 1};
    struct ocsvm_smo smo = {2, ones, upper, alpha, gradient};

    (void)state;
    assert_int_equal(ocsvm_smo_solve(&smo, 1e-12), 0);
    assert_true(alpha[0] + alpha[1] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_variables_have_equal_gradients),
        cmocka_unit_test(bounds_are_reached_exactly),
        cmocka_unit_test(equal_points_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
