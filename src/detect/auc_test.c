#include "detect/auc.h"

#include "base/err.h"

#include "test.h"

/* scikit-learn: roc_auc_score 0.75, average_precision_score 0.8333 (its own example). */
static void areas_equal_scikit_learns(void **state)
{
    static const double score[] = {0.1, 0.4, 0.35, 0.8};
    static const bool label[] = {false, false, true, true};
    struct auc auc;

    (void)state;
    assert_int_equal(auc_compute(score, label, 4, &auc), 0);
    assert_true(fabs(auc.roc - 0.75) < 1e-12);
    assert_true(fabs(auc.pr - 0.8333333333333333) < 1e-12);
}

/* All tie: chance level, precision is the share of the abnormal. */
static void ties_are_taken_at_once(void **state)
{
    static const double score[] = {1, 1, 1, 1, 1};
    static const bool label[] = {true, false, false, false, true};
    struct auc auc;

    (void)state;
    assert_int_equal(auc_compute(score, label, 5, &auc), 0);
    assert_true(fabs(auc.roc - 0.5) < 1e-12);
    assert_true(fabs(auc.pr - 0.4) < 1e-12);
}

static void one_class_alone_is_an_error(void **state)
{
    static const double score[] = {1, 2};
    static const bool label[] = {true, true};
    struct auc auc;

    (void)state;
    assert_int_equal(auc_compute(score, label, 2, &auc), ERR_RANGE);
    assert_int_equal(auc_compute(score, label, 0, &auc), ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(areas_equal_scikit_learns),
        cmocka_unit_test(ties_are_taken_at_once),
        cmocka_unit_test(one_class_alone_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
