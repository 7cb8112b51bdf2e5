/* The unweighted machine against LIBSVM, which solves to 1e-7 here. */
#include "detect/ocsvm.h"

#include "base/mem.h"

#include <libsvm/svm.h>

#include "sample_clusters.h"
#include "test.h"

static void print_nothing(const char *text)
{
    (void)text;
}

static struct svm_node *nodes_of(struct matrix x)
{
    size_t width = x.cols + 1;
    struct svm_node *node = mem_alloc(x.rows * width, sizeof *node);

    for (size_t i = 0; i < x.rows; i++) {
        for (size_t c = 0; c < x.cols; c++)
            node[i * width + c] = (struct svm_node){(int)c + 1, matrix_row(x, i)[c]};
        node[i * width + x.cols].index = -1;
    }
    return node;
}

/* Trains LIBSVM; returns its objective, and its scores with our sign. */
static double train_libsvm(struct matrix x, double nu, double gamma, double *score, double *rho)
{
    struct svm_node *node = nodes_of(x), **row = mem_alloc(x.rows, sizeof *row);
    struct svm_problem problem = {(int)x.rows, mem_alloc(x.rows, sizeof(double)), row};
    struct svm_parameter parameter = {.svm_type = ONE_CLASS,
                                      .kernel_type = RBF,
                                      .gamma = gamma,
                                      .nu = nu,
                                      .eps = 1e-7,
                                      .cache_size = 100};
    struct svm_model *model;
    double objective = 0;

    for (size_t i = 0; i < x.rows; i++)
        row[i] = node + i * (x.cols + 1);
    svm_set_print_string_function(print_nothing);
    model = svm_train(&problem, &parameter);
    *rho = model->rho[0];
    for (size_t i = 0; i < x.rows; i++) {
        double value;

        svm_predict_values(model, row[i], &value);
        score[i] = -value;
    }
    for (int s = 0; s < model->l; s++) {
        size_t i = (size_t)model->sv_indices[s] - 1;

        objective += model->sv_coef[0][s] * (*rho - score[i]) / 2;
    }
    svm_free_and_destroy_model(&model);
    free(problem.y);
    free(row);
    free(node);
    return objective;
}

static void compare(size_t rows, double nu, double gamma)
{
    static double ours[TEST_MAX_ROWS], theirs[TEST_MAX_ROWS];
    struct matrix x = sample_clusters(rows, rows);
    struct pool *pool = pool_new(2);
    struct ocsvm_opts opts = {.nu = nu, .gamma = gamma, .tolerance = 1e-7};
    struct ocsvm_result result;
    struct ocsvm *svm;
    double objective, rho;

    assert_int_equal(ocsvm_new(x, &opts, pool, &svm), 0);
    assert_int_equal(ocsvm_train(svm, NULL, &result), 0);
    ocsvm_score(svm, ours);
    objective = train_libsvm(x, nu, result.gamma, theirs, &rho);
    assert_true(fabs(result.objective - objective) <= 1e-7 * objective);
    assert_true(fabs(result.rho - rho) <= 1e-5 * rho);
    for (size_t i = 0; i < rows; i++)
        assert_true(fabs(ours[i] - theirs[i]) <= 1e-5 * rho);
    ocsvm_free(svm);
    pool_free(pool);
}

static void objective_and_scores_are_libsvms(void **state)
{
    (void)state;
    compare(400, 0.02, 0);
    compare(400, 0.3, 0);
    compare(TEST_MAX_ROWS, 0.02, 0);
    compare(TEST_MAX_ROWS, 0.6, 0);
}

static void they_are_for_narrow_and_wide_kernels(void **state)
{
    (void)state;
    compare(400, 0.05, 30);
    compare(400, 0.05, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objective_and_scores_are_libsvms),
        cmocka_unit_test(they_are_for_narrow_and_wide_kernels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
