/* What is said of rows that were not seen, on classes that can be told apart and on such that
 * cannot. */
#include "detect/svm.h"

#include "base/err.h"
#include "base/rng.h"
#include "detect/auc.h"

#include <math.h>

#include "test.h"

#define ROWS 400
#define COLS 2

struct fixture {
    double x[ROWS * COLS], score[ROWS];
    bool is_abnormal[ROWS];
    struct svm_opts opts;
    struct pool *pool;
};

static struct matrix matrix_of(struct fixture *f)
{
    return (struct matrix){f->x, ROWS, COLS, COLS};
}

/* Abnormal ones on a ring around the others, which no line tells apart. */
static int set_up(void **state)
{
    static struct fixture f;
    struct rng rng = {7};

    for (size_t i = 0; i < ROWS; i++) {
        double angle = 2 * M_PI * rng_real(&rng), radius = i % 8 == 0 ? 3 : rng_real(&rng);

        f.is_abnormal[i] = i % 8 == 0;
        f.x[i * COLS] = radius * cos(angle);
        f.x[i * COLS + 1] = radius * sin(angle);
    }
    f.opts = svm_default();
    f.opts.gamma = 0.5;
    f.pool = pool_new(2);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    pool_free(f->pool);
    return 0;
}

static void classes_apart_are_told_apart(void **state)
{
    struct fixture *f = *state;
    struct auc auc;

    assert_int_equal(
        svm_cross_validate(matrix_of(f), f->is_abnormal, &f->opts, f->pool, f->score), 0);
    for (size_t i = 0; i < ROWS; i++)
        assert_true((f->score[i] > 0) == f->is_abnormal[i]);
    assert_int_equal(auc_compute(f->score, f->is_abnormal, ROWS, &auc), 0);
    assert_true(auc.pr == 1);
}

/* Who is judged was not learnt from: labels by chance are found by chance. */
static void labels_by_chance_teach_nothing(void **state)
{
    struct fixture *f = *state;
    struct rng rng = {11};
    struct auc auc;

    for (size_t i = 0; i < ROWS; i++)
        f->is_abnormal[i] = rng_real(&rng) < 0.5;
    f->opts.cost = 100;
    f->opts.gamma = 50; /* would know each row by heart */
    assert_int_equal(
        svm_cross_validate(matrix_of(f), f->is_abnormal, &f->opts, f->pool, f->score), 0);
    assert_int_equal(auc_compute(f->score, f->is_abnormal, ROWS, &auc), 0);
    assert_true(fabs(auc.roc - 0.5) < 0.1);
}

static void what_cannot_be_divided_is_refused(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ROWS; i++)
        f->is_abnormal[i] = i < f->opts.folds - 1;
    assert_int_equal(
        svm_cross_validate(matrix_of(f), f->is_abnormal, &f->opts, f->pool, f->score),
        ERR_RANGE);
    assert_non_null(strstr(err_message(), "9 abnormal and 391 normal"));
    f->x[5] = NAN;
    assert_int_equal(
        svm_cross_validate(matrix_of(f), f->is_abnormal, &f->opts, f->pool, f->score),
        ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(classes_apart_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(labels_by_chance_teach_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_divided_is_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
