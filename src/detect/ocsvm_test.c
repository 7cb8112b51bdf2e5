#include "detect/ocsvm.h"

#include "base/err.h"

#include "sample_clusters.h"
#include "test.h"

enum { ROWS = 1500 };

static const struct ocsvm_opts defaults, precise = {.tolerance = 1e-7};

struct fixture {
    struct pool *pool;
    struct ocsvm *svm;
    struct ocsvm_result result;
    double weight[ROWS], score[ROWS];
};

static void fixture_open(struct fixture *f, unsigned n_threads, const struct ocsvm_opts *opts)
{
    f->pool = pool_new(n_threads);
    for (size_t i = 0; i < ROWS; i++)
        f->weight[i] = 1;
    assert_int_equal(ocsvm_new(sample_clusters(ROWS, 1), opts, f->pool, &f->svm), 0);
}

static void fixture_train(struct fixture *f)
{
    assert_int_equal(ocsvm_train(f->svm, f->weight, &f->result), 0);
    ocsvm_score(f->svm, f->score);
}

static void fixture_close(struct fixture *f)
{
    ocsvm_free(f->svm);
    pool_free(f->pool);
}

/* Inside: a = 0; outside: a = u; on the border in between. The sum is C. */
static void assert_optimal(const struct fixture *f)
{
    double sum = 0, slack = f->result.allowed;

    for (size_t i = 0; i < ROWS; i++) {
        double a = f->result.alpha[i], u = f->weight[i];

        sum += a;
        assert_true(a >= 0 && a <= u);
        assert_true(a < u || f->score[i] >= -slack || u == 0);
        assert_true(a > 0 || f->score[i] <= slack || u == 0);
        assert_true(a == 0 || a == u || fabs(f->score[i]) <= slack);
    }
    assert_true(fabs(sum - f->result.total) < 1e-9);
    assert_true(f->result.violation <= slack);
    assert_true(fabs(f->result.total - 0.02 * ROWS) < 1e-12);
}

static void the_conditions_hold_with_weights(void **state)
{
    struct fixture f;

    (void)state;
    fixture_open(&f, 2, &defaults);
    for (size_t i = 0; i < ROWS; i++)
        f.weight[i] = i % 40 == 0 ? 0.2 : 0.5 + (double)(i % 7) / 3;
    fixture_train(&f);
    assert_optimal(&f);
    fixture_close(&f);
}

static void a_row_labelled_normal_is_no_outlier(void **state)
{
    struct fixture f;

    (void)state;
    fixture_open(&f, 1, &defaults);
    fixture_train(&f);
    assert_true(f.score[360] > 0.1 * f.result.rho);
    f.weight[360] = 1.5 * f.result.total;
    fixture_train(&f);
    assert_optimal(&f);
    assert_true(f.score[360] <= f.result.allowed);
    fixture_close(&f);
}

static void a_row_labelled_abnormal_is_left_out(void **state)
{
    struct fixture f;

    (void)state;
    fixture_open(&f, 1, &defaults);
    for (size_t i = 0; i < ROWS; i += 40)
        f.weight[i] = 0;
    fixture_train(&f);
    assert_optimal(&f);
    for (size_t i = 0; i < ROWS; i += 40)
        assert_true(f.result.alpha[i] == 0);
    assert_true(f.score[40] > f.result.allowed);
    fixture_close(&f);
}

static void label(struct fixture *f)
{
    for (size_t i = 0; i < ROWS; i += 120)
        f->weight[i] = 0;
    f->weight[80] = f->weight[81] = 1.5 * 0.02 * ROWS;
}

static void a_warm_start_reaches_the_same_objective(void **state)
{
    struct fixture warm, cold;

    (void)state;
    fixture_open(&warm, 2, &precise);
    fixture_train(&warm);
    label(&warm);
    fixture_train(&warm);
    fixture_open(&cold, 2, &precise);
    label(&cold);
    fixture_train(&cold);
    assert_optimal(&warm);
    assert_true(warm.result.n_kernel_rows < cold.result.n_kernel_rows);
    assert_true(fabs(warm.result.objective / cold.result.objective - 1) < 1e-7);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs(warm.score[i] - cold.score[i]) < 1e-4 * cold.result.rho);
    fixture_close(&warm);
    fixture_close(&cold);
}

static void taking_a_label_back_gives_the_old_scores(void **state)
{
    struct fixture f;
    double before[ROWS];

    (void)state;
    fixture_open(&f, 1, &precise);
    fixture_train(&f);
    memcpy(before, f.score, sizeof before);
    label(&f);
    fixture_train(&f);
    for (size_t i = 0; i < ROWS; i++)
        f.weight[i] = 1;
    fixture_train(&f);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs(before[i] - f.score[i]) < 1e-4 * f.result.rho);
    fixture_close(&f);
}

static void threads_and_a_small_cache_change_nothing(void **state)
{
    struct ocsvm_opts small = {.cache_bytes = 1};
    struct fixture one, four, tight;

    (void)state;
    fixture_open(&one, 1, &defaults);
    fixture_open(&four, 4, &defaults);
    fixture_open(&tight, 3, &small);
    fixture_train(&one);
    fixture_train(&four);
    fixture_train(&tight);
    assert_memory_equal(one.score, four.score, sizeof one.score);
    assert_true(one.result.objective == four.result.objective);
    assert_optimal(&tight);
    assert_true(tight.result.n_kernel_rows > one.result.n_kernel_rows);
    assert_true(fabs(tight.result.objective / one.result.objective - 1) < 1e-6);
    fixture_close(&one);
    fixture_close(&four);
    fixture_close(&tight);
}

static void the_model_scores_rows_as_the_machine_does(void **state)
{
    struct matrix x = sample_clusters(ROWS, 1), narrow = {x.x, 3, 2, TEST_COLS};
    struct fixture f;
    struct ocsvm_model model;
    double score[ROWS];

    (void)state;
    fixture_open(&f, 2, &defaults);
    fixture_train(&f);
    ocsvm_model_init(&model, f.svm);
    assert_int_equal(model.support.rows, f.result.n_support);
    assert_int_equal(ocsvm_model_score(&model, x, f.pool, score), 0);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(fabs(score[i] - f.score[i]) < 1e-6 * f.result.rho);
    assert_int_equal(ocsvm_model_score(&model, narrow, f.pool, score), ERR_RANGE);
    matrix_row(x, 1)[0] = 1e9; /* nothing is near: the sum is 0 */
    assert_int_equal(ocsvm_model_score(&model, x, f.pool, score), 0);
    assert_true(fabs(score[1] - f.result.rho) < 1e-12);
    ocsvm_model_release(&model);
    fixture_close(&f);
}

/* ------------------------------------------------------------------------- what is strange */

static void train_these(double *x, size_t rows, size_t cols, const double *weight, int want,
                        double *score)
{
    struct pool *pool = pool_new(1);
    struct ocsvm_result result;
    struct ocsvm *svm;

    assert_int_equal(ocsvm_new((struct matrix){x, rows, cols, cols}, &defaults, pool, &svm), 0);
    assert_int_equal(ocsvm_train(svm, weight, &result), want);
    if (want == 0) {
        ocsvm_score(svm, score);
        for (size_t i = 0; i < rows; i++)
            assert_true(isfinite(score[i]));
    }
    ocsvm_free(svm);
    pool_free(pool);
}

static void one_row_two_rows_and_equal_rows_are_on_the_border(void **state)
{
    double x[2 * 300] = {0}, score[300];

    (void)state;
    train_these(x, 1, 2, NULL, 0, score);
    assert_true(fabs(score[0]) < 1e-9);
    train_these(x, 300, 2, NULL, 0, score);
    for (size_t i = 0; i < 300; i++)
        assert_true(fabs(score[i]) < 1e-5 * 6);
    x[0] = 5;
    train_these(x, 2, 2, NULL, 0, score);
    assert_true(fabs(score[0]) < 1e-6 && fabs(score[1]) < 1e-6);
}

static void a_constant_feature_does_not_matter(void **state)
{
    static double x[ROWS * 2];
    double score[ROWS];
    struct matrix clusters = sample_clusters(ROWS, 1);
    size_t strangest = 0;

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = matrix_row(clusters, i)[0];
        x[2 * i + 1] = 7;
    }
    x[2 * 77] = 50;
    train_these(x, ROWS, 2, NULL, 0, score);
    for (size_t i = 0; i < ROWS; i++)
        strangest = score[i] > score[strangest] ? i : strangest;
    assert_int_equal(strangest, 77);
}

enum { FLAT = 200 };

/* Scores after the border is settled. */
static struct ocsvm_result settle(double (*x)[TEST_COLS], const double *weight, double *score)
{
    struct matrix rows = {x[0], FLAT, TEST_COLS, TEST_COLS};
    struct pool *pool = pool_new(2);
    struct ocsvm_result result;
    struct ocsvm *svm;

    assert_int_equal(ocsvm_new(rows, &defaults, pool, &svm), 0);
    assert_int_equal(ocsvm_train(svm, weight, &result), 0);
    ocsvm_score(svm, score);
    ocsvm_settle_border(svm, score);
    result.alpha = NULL;
    ocsvm_free(svm);
    pool_free(pool);
    return result;
}

/* C = 4: 195 rows in one place, rows 0..2 alone and far out, row 3 with a twin at 4. What is
 * alone is on the border with a_i = rho, the twins with a_3 + a_4 = rho. */
static void rows_alone_on_the_border_are_put_outside(void **state)
{
    static double x[FLAT][TEST_COLS];
    double score[FLAT], weight[FLAT];
    struct ocsvm_result result;
    struct rng rng = {5};

    (void)state;
    for (size_t i = 0; i < FLAT; i++) {
        weight[i] = 1;
        for (size_t c = 0; c < TEST_COLS; c++)
            x[i][c] = (i < 5 ? 0 : 1) * rng_normal(&rng);
    }
    for (size_t i = 0; i < 4; i++)
        x[i][i] = 100 + (double)i;
    x[4][3] = x[3][3];
    result = settle(x, weight, score);
    assert_true(result.rho < 1);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(score[i] - result.rho / 2) < 1e-4);
    assert_true(score[3] > 0.99 * result.allowed && score[3] <= result.allowed);
    assert_true(score[4] == score[3]);
    for (size_t i = 5; i < FLAT; i++)
        assert_true(score[i] < score[3]);
    weight[1] = 6; /* normal, says a person */
    result = settle(x, weight, score);
    assert_true(score[1] <= result.allowed && score[0] > result.rho / 3);
}

static void where_all_are_alike_none_is_put_outside(void **state)
{
    static double x[FLAT][TEST_COLS];
    double score[FLAT];
    struct ocsvm_result result = settle(x, NULL, score);

    (void)state;
    for (size_t i = 0; i < FLAT; i++)
        assert_true(score[i] <= result.allowed);
    for (size_t i = 0; i < FLAT; i++) /* no two rows are near each other */
        x[i][i % TEST_COLS] = (i % 2 ? 5.0 : -5.0) * (double)(i / TEST_COLS + 1);
    result = settle(x, NULL, score);
    for (size_t i = 0, n_out = 0; i < FLAT; i++) {
        n_out += score[i] > result.allowed;
        assert_true(n_out <= 4 + 9); /* C of weight 1, and 2 C + 1 */
    }
}

static void weights_that_cannot_be_are_refused(void **state)
{
    double x[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    double none[10] = {0}, negative[10] = {1, 1, -1}, nan[10] = {1, NAN};

    (void)state;
    train_these(x, 10, 1, none, ERR_RANGE, NULL);
    assert_non_null(strstr(err_message(), "sum to 0, less than 0.2"));
    train_these(x, 10, 1, negative, ERR_RANGE, NULL);
    assert_non_null(strstr(err_message(), "weight of execution 2 is -1"));
    train_these(x, 10, 1, nan, ERR_RANGE, NULL);
}

static void values_that_are_not_finite_are_refused(void **state)
{
    double x[] = {1, 2, 3, NAN};
    struct pool *pool = pool_new(1);
    struct ocsvm *svm;

    (void)state;
    assert_int_equal(ocsvm_new((struct matrix){x, 2, 2, 2}, &defaults, pool, &svm), ERR_RANGE);
    assert_non_null(strstr(err_message(), "feature 1 of execution 1 is nan"));
    assert_null(svm);
    assert_int_equal(ocsvm_new((struct matrix){x, 0, 2, 2}, &defaults, pool, &svm), ERR_RANGE);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_conditions_hold_with_weights),
        cmocka_unit_test(a_row_labelled_normal_is_no_outlier),
        cmocka_unit_test(a_row_labelled_abnormal_is_left_out),
        cmocka_unit_test(a_warm_start_reaches_the_same_objective),
        cmocka_unit_test(taking_a_label_back_gives_the_old_scores),
        cmocka_unit_test(threads_and_a_small_cache_change_nothing),
        cmocka_unit_test(the_model_scores_rows_as_the_machine_does),
        cmocka_unit_test(one_row_two_rows_and_equal_rows_are_on_the_border),
        cmocka_unit_test(a_constant_feature_does_not_matter),
        cmocka_unit_test(rows_alone_on_the_border_are_put_outside),
        cmocka_unit_test(where_all_are_alike_none_is_put_outside),
        cmocka_unit_test(weights_that_cannot_be_are_refused),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
