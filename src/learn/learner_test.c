/* The one-class SVM as a learner, on a cloud of points with outliers of two kinds. */
#include "learn/learner.h"

#include "base/rng.h"
#include "learn/model_file.h"

#include "test.h"

#define N 1000u
#define N_FAR 6u /* the first: three pairs, each at one place */

struct fixture {
    double x[N * 2], score[N], before[N], threshold;
    bool is_anomaly[N];
    signed char label[N];
    struct pool *pool;
    struct learner learner;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct rng rng = {7};
    struct learner_input input = {.n = N, .machine_threshold = NAN, .x = {f->x, N, 2, 2}};

    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < 2; c++)
            f->x[2 * i + c] = i < N_FAR ? 6 + 0.01 * rng_real(&rng) + 3.0 * (double)(i / 2 * c)
                                        : rng_normal(&rng);
    input.pool = f->pool = pool_new(1);
    assert_int_equal(learner_init(&f->learner, learner_find("ocsvm"), &input), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    learner_release(&f->learner);
    pool_free(f->pool);
    free(f);
    return 0;
}

static void rank(struct fixture *f)
{
    assert_int_equal(
        learner_rank(&f->learner, f->label, f->score, f->is_anomaly, &f->threshold), 0);
}

static void without_labels_it_is_the_detector(void **state)
{
    struct fixture *f = *state;
    struct ocsvm_result result;
    struct ocsvm *svm;

    rank(f);
    assert_int_equal(ocsvm_new(f->learner.input.x, &(struct ocsvm_opts){0}, f->pool, &svm), 0);
    assert_int_equal(ocsvm_train(svm, NULL, &result), 0);
    ocsvm_score(svm, f->before);
    ocsvm_settle_border(svm, f->before);
    assert_memory_equal(f->score, f->before, sizeof f->score);
    assert_true(f->threshold == result.allowed);
    ocsvm_free(svm);
}

/* Its weight is above C, so it is on the border or inside; its like moves with it. */
static void what_is_labelled_normal_is_not_outside(void **state)
{
    struct fixture *f = *state;

    rank(f);
    memcpy(f->before, f->score, sizeof f->before);
    assert_true(f->is_anomaly[0] && f->before[0] > f->threshold);
    f->label[0] = LABEL_NORMAL;
    rank(f);
    assert_true(fabs(f->score[0]) <= f->threshold);
    assert_false(f->is_anomaly[0]);
    assert_true(f->score[1] < f->before[1]);
}

/* It is no part of the region, also not as a bounded support vector: no alpha, others get it.
 */
static void what_is_labelled_abnormal_is_left_out(void **state)
{
    struct fixture *f = *state;
    struct model model = {0};

    for (size_t i = 0; i < N_FAR; i++)
        f->label[i] = LABEL_ABNORMAL;
    rank(f);
    assert_int_equal(learner_keep(&f->learner, f->label, &model), 0);
    for (size_t i = 0; i < model.svm.support.rows; i++)
        assert_true(matrix_row(model.svm.support, i)[0] < 5.9);
    for (size_t i = 0; i < N_FAR; i++)
        assert_true(f->is_anomaly[i] && f->score[i] > f->threshold);
    model_release(&model);
}

/* The sum of alpha is C whatever the labels. */
static void labels_move_the_region_not_its_size(void **state)
{
    struct fixture *f = *state;
    struct model model = {0};
    double sum = 0;

    f->label[0] = LABEL_NORMAL;
    f->label[4] = LABEL_ABNORMAL;
    f->label[N - 1] = LABEL_NORMAL;
    rank(f);
    assert_int_equal(learner_keep(&f->learner, f->label, &model), 0);
    for (size_t i = 0; i < model.svm.support.rows; i++)
        sum += model.svm.alpha[i];
    assert_float_equal(sum, OCSVM_NU * N, 1e-9);
    model_release(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_labels_it_is_the_detector, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_labelled_normal_is_not_outside, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_labelled_abnormal_is_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(labels_move_the_region_not_its_size, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
