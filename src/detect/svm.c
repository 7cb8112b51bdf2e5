/* The kernel of all rows is made once; a fold copies what it needs of it. */
#include "detect/svm.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "detect/ocsvm.h"
#include "detect/rbf.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE 1e-4 /* of the optimality conditions; margins are at 1 */

struct svm_opts svm_default(void)
{
    return (struct svm_opts){.folds = 10, .cost = 1, .seed = 1};
}

struct validation {
    const bool *is_abnormal;
    const struct svm_opts *opts;
    size_t rows;
    const float *kernel;  /* (rows, rows) */
    const uint32_t *fold; /* [rows] */
    double *score;        /* [rows] */
};

/* The rows of each class in turns, in a random order. */
static void deal(const bool *is_abnormal, size_t rows, const struct svm_opts *opts,
                 uint32_t *fold)
{
    struct rng rng = {opts->seed};
    uint32_t *order = mem_alloc(rows, sizeof *order), next[2] = {0, 0};

    for (uint32_t i = 0; i < rows; i++) {
        uint32_t j = (uint32_t)rng_below(&rng, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < rows; i++)
        fold[order[i]] = next[is_abnormal[order[i]]]++ % opts->folds;
    free(order);
}

/* The border: where the margins of the rows that are on them say it is; else between those that
 * bound it. */
static double border_of(const struct ocsvm_smo *smo)
{
    double sum = 0, low = -INFINITY, high = INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < smo->n; i++) {
        double g = smo->gradient[i];

        if (smo->alpha[i] > 0 && smo->alpha[i] < smo->upper[i]) {
            sum += g;
            n++;
        } else if (smo->alpha[i] > 0) {
            low = fmax(low, g);
        } else {
            high = fmin(high, g);
        }
    }
    return n > 0 ? sum / (double)n : (low + high) / 2;
}

static void judge(const struct validation *v, const uint32_t *train, const double *weight,
                  size_t n, double border, uint32_t fold)
{
    for (uint32_t i = 0; i < v->rows; i++) {
        const float *k = v->kernel + i * v->rows;
        double sum = 0;

        if (v->fold[i] != fold)
            continue;
        for (size_t j = 0; j < n; j++)
            sum += weight[j] * (double)k[train[j]];
        v->score[i] = sum - border;
    }
}

static void train_and_judge(const struct validation *v, uint32_t fold)
{
    uint32_t *train = mem_alloc(v->rows, sizeof *train);
    double *upper = mem_alloc(v->rows, sizeof *upper), *b = mem_alloc(v->rows, sizeof *b);
    double *gradient = mem_alloc(v->rows, sizeof *gradient), cost = v->opts->cost;
    struct ocsvm_smo smo = {.upper = upper, .alpha = b, .gradient = gradient};
    double border;
    float *kernel;

    for (uint32_t i = 0; i < v->rows; i++)
        if (v->fold[i] != fold)
            train[smo.n++] = i;
    smo.kernel = kernel = mem_alloc(smo.n * smo.n, sizeof *kernel);
    for (size_t i = 0; i < smo.n; i++) {
        double y = v->is_abnormal[train[i]] ? 1 : -1;

        for (size_t j = 0; j < smo.n; j++)
            kernel[i * smo.n + j] = v->kernel[train[i] * v->rows + train[j]];
        upper[i] = cost;
        b[i] = y < 0 ? cost : 0;
        gradient[i] = -y;
    }
    ocsvm_smo_solve(&smo, TOLERANCE);
    border = border_of(&smo);
    for (size_t i = 0; i < smo.n; i++) /* y a, which the border does not ask for */
        gradient[i] = b[i] - (v->is_abnormal[train[i]] ? 0 : cost);
    judge(v, train, gradient, smo.n, border, fold);
    free(kernel);
    free(gradient);
    free(b);
    free(upper);
    free(train);
}

static int check(const bool *is_abnormal, size_t rows, const struct svm_opts *opts)
{
    size_t n_abnormal = 0, least;

    if (rows > SVM_MAX_ROWS)
        return err_set(ERR_RANGE,
                       "%zu executions are too many for a supervised machine: up to %u", rows,
                       SVM_MAX_ROWS);
    for (size_t i = 0; i < rows; i++)
        n_abnormal += is_abnormal[i];
    least = n_abnormal < rows - n_abnormal ? n_abnormal : rows - n_abnormal;
    if (least < opts->folds)
        return err_set(ERR_RANGE,
                       "%zu abnormal and %zu normal executions are too few to be divided by %u",
                       n_abnormal, rows - n_abnormal, opts->folds);
    return 0;
}

static float *whole_kernel(struct matrix x, double gamma, struct pool *pool)
{
    float *kernel = mem_alloc(x.rows * x.rows, sizeof *kernel);
    float **row = mem_alloc(x.rows, sizeof *row);
    uint32_t *which = mem_alloc(x.rows, sizeof *which);
    struct centred points;
    struct rbf rbf = {&points, gamma, pool};

    centred_init(&points, x);
    for (uint32_t i = 0; i < x.rows; i++) {
        which[i] = i;
        row[i] = kernel + i * x.rows;
    }
    rbf_rows(&rbf, which, x.rows, row);
    centred_release(&points);
    free(which);
    free(row);
    return kernel;
}

int svm_cross_validate(struct matrix x, const bool *is_abnormal, const struct svm_opts *opts,
                       struct pool *pool, double *score)
{
    uint32_t *fold;
    float *kernel;
    struct validation v;
    int rc = centred_check_products(x);

    if (rc == 0)
        rc = check(is_abnormal, x.rows, opts);
    if (rc < 0)
        return rc;
    fold = mem_alloc(x.rows, sizeof *fold);
    deal(is_abnormal, x.rows, opts, fold);
    kernel = whole_kernel(x, opts->gamma, pool);
    v = (struct validation){is_abnormal, opts, x.rows, kernel, fold, score};
    for (uint32_t f = 0; f < opts->folds; f++)
        train_and_judge(&v, f);
    free(kernel);
    free(fold);
    return 0;
}
