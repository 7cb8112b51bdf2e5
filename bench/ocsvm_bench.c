/* ocsvm_bench -- times fit + score, and a warm fit after one label. See bench_input.h. */
#include "base/err.h"
#include "base/mem.h"
#include "bench_input.h"
#include "detect/ocsvm.h"

#define REPEATS 5

static struct ocsvm_result result;
static double fit_s = INFINITY, fit_cpu_s = INFINITY, label_s = INFINITY;

static int label_strangest(struct ocsvm *svm, double *weight, double *score, size_t rows)
{
    size_t strangest = 0;
    double begin;
    int rc;

    ocsvm_score(svm, score);
    for (size_t i = 0; i < rows; i++) {
        weight[i] = 1;
        if (score[i] > score[strangest])
            strangest = i;
    }
    weight[strangest] = 0;
    begin = bench_now();
    rc = ocsvm_train(svm, weight, NULL);
    ocsvm_score(svm, score);
    label_s = fmin(label_s, bench_now() - begin);
    return rc;
}

static int run(struct matrix x, struct pool *pool, double *score, double *weight)
{
    struct ocsvm *svm = NULL;
    double begin = bench_now(), begin_cpu = bench_cpu();
    int rc = ocsvm_new(x, &(struct ocsvm_opts){0}, pool, &svm);

    if (rc == 0)
        rc = ocsvm_train(svm, NULL, &result);
    if (rc == 0) {
        ocsvm_score(svm, score);
        fit_s = fmin(fit_s, bench_now() - begin);
        fit_cpu_s = fmin(fit_cpu_s, bench_cpu() - begin_cpu);
        rc = label_strangest(svm, weight, score, x.rows);
    }
    ocsvm_free(svm);
    return rc;
}

int main(int argc, char **argv)
{
    struct matrix x = bench_input(argc, argv);
    struct pool *pool = pool_new(bench_threads(argc, argv));
    double *score = mem_alloc(x.rows, sizeof *score),
           *weight = mem_alloc(x.rows, sizeof(double));
    int rc = 0;

    for (int r = 0; r < REPEATS && rc == 0; r++)
        rc = run(x, pool, score, weight);
    if (rc < 0)
        fprintf(stderr, "ocsvm_bench: %s\n", err_message());
    else
        printf("{\"rows\": %zu, \"cols\": %zu, \"threads\": %u, \"seconds\": %.6f, "
               "\"cpu_seconds\": %.6f, "
               "\"label_seconds\": %.6f, \"objective\": %.12g, \"rho\": %.9g, "
               "\"n_support\": %zu, \"rounds\": %zu, \"steps\": %zu, \"kernel_rows\": %zu}\n",
               x.rows, x.cols, pool_threads(pool), fit_s, fit_cpu_s, label_s, result.objective,
               result.rho, result.n_support, result.n_rounds, result.n_steps,
               result.n_kernel_rows);
    pool_free(pool);
    free(score);
    free(weight);
    free(x.x);
    return rc < 0;
}
