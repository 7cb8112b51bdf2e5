/*
 * retrain_bench -- how long a new ranking takes after so many labels: by reasons, and by the
 * one-class SVM from nothing and after one more label.
 *
 *   usage: retrain_bench [ROWS [COLS [THREADS]]]     default 5800 60, all processors
 *
 * Rows are those of bench_input.h with half of the columns left out, other ones in each
 * cluster: an execution has about thirty call paths of sixty. The strangest are labelled,
 * every other one as abnormal.
 */
#include "base/err.h"
#include "base/mem.h"
#include "bench_input.h"
#include "learn/learner.h"
#include "learn/reasons.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define REPEATS 3
#define THRESHOLD 4.5

struct bench {
    struct learner_input input;
    struct reasons reasons; /* each row begins with its kind */
    double *prior, *score;
    signed char *label;
    bool *is_anomaly;
};

static void bench_init(struct bench *b, struct matrix x, struct pool *pool)
{
    struct rng rng = {7};

    *b = (struct bench){.prior = mem_alloc(x.rows, sizeof *b->prior),
                        .score = mem_alloc(x.rows, sizeof *b->score),
                        .label = mem_alloc(x.rows, sizeof *b->label),
                        .is_anomaly = mem_alloc(x.rows, sizeof *b->is_anomaly)};
    rows_init(&b->reasons.rows, (uint32_t)x.cols);
    b->reasons.n_lasting = (uint32_t)x.cols;
    for (size_t i = 0; i < x.rows; i++) {
        b->prior[i] = -log(1 - rng_real(&rng));
        for (size_t c = 0; c < x.cols; c++) {
            if ((c + i % BENCH_CLUSTERS) % 2)
                matrix_row(x, i)[c] = 0;
            else
                rows_add(&b->reasons.rows, (uint32_t)c, matrix_row(x, i)[c]);
        }
        rows_end(&b->reasons.rows);
    }
    b->input = (struct learner_input){.n = (uint32_t)x.rows,
                                      .reasons = &b->reasons,
                                      .x = x,
                                      .prior = b->prior,
                                      .threshold = THRESHOLD,
                                      .seed = 1,
                                      .pool = pool};
}

static void bench_release(struct bench *b)
{
    reasons_release(&b->reasons);
    free(b->prior);
    free(b->score);
    free(b->label);
    free(b->is_anomaly);
}

/* Labels the n of highest prior. */
static void label_highest(struct bench *b, uint32_t n)
{
    memset(b->label, LABEL_NONE, b->input.n);
    for (uint32_t k = 0; k < n && k < b->input.n; k++) {
        uint32_t best = UINT32_MAX;

        for (uint32_t i = 0; i < b->input.n; i++)
            if (b->label[i] == LABEL_NONE &&
                (best == UINT32_MAX || b->prior[i] > b->prior[best]))
                best = i;
        b->label[best] = k % 2 ? LABEL_NORMAL : LABEL_ABNORMAL;
    }
}

static int rank(struct bench *b, struct learner *learner, double *seconds)
{
    double begin = bench_now(), threshold;
    int rc = learner_rank(learner, b->label, b->score, b->is_anomaly, &threshold);

    *seconds = fmin(*seconds, bench_now() - begin);
    return rc;
}

static int measure_reasons(struct bench *b, uint32_t n_labels)
{
    struct learner learner;
    double seconds = INFINITY;
    int rc = learner_init(&learner, learner_find("reasons"), &b->input);

    label_highest(b, n_labels);
    for (int r = 0; r < REPEATS && rc == 0; r++)
        rc = rank(b, &learner, &seconds);
    learner_release(&learner);
    printf(", \"reasons_%u_s\": %.6f", n_labels, seconds);
    return rc;
}

static int measure_ocsvm(struct bench *b)
{
    struct learner learner;
    double first = INFINITY, again = INFINITY;
    int rc = learner_init(&learner, learner_find("ocsvm"), &b->input);

    label_highest(b, 0);
    if (rc == 0)
        rc = rank(b, &learner, &first);
    for (uint32_t n = 1; n <= REPEATS && rc == 0; n++) {
        label_highest(b, n);
        rc = rank(b, &learner, &again);
    }
    learner_release(&learner);
    printf(", \"ocsvm_first_s\": %.6f, \"ocsvm_again_s\": %.6f", first, again);
    return rc;
}

int main(int argc, char **argv)
{
    char rows[] = "5800", cols[] = "60", threads[] = "0";
    char *filled[] = {argv[0], argc > 1 ? argv[1] : rows, argc > 2 ? argv[2] : cols,
                      argc > 3 ? argv[3] : threads};
    struct matrix x = bench_input(4, filled);
    struct pool *pool = pool_new(bench_threads(4, filled));
    const uint32_t n_labels[] = {1, 50, 200, 5000};
    struct bench b;
    int rc = 0;

    bench_init(&b, x, pool);
    printf("{\"rows\": %zu, \"cols\": %zu, \"threads\": %u", x.rows, x.cols,
           pool_threads(pool));
    for (size_t i = 0; i < sizeof n_labels / sizeof *n_labels && rc == 0; i++)
        rc = measure_reasons(&b, n_labels[i]);
    if (rc == 0)
        rc = measure_ocsvm(&b);
    printf("}\n");
    if (rc < 0)
        fprintf(stderr, "retrain_bench: %s\n", err_message());
    bench_release(&b);
    pool_free(pool);
    free(x.x);
    return rc < 0;
}
