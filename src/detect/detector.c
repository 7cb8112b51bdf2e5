/* Detectors without a threshold of their own call the highest fiftieth anomalies (the paper).
 */
#include "detect/detector.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/named.h"
#include "detect/iforest.h"
#include "detect/neighbours.h"
#include "detect/ocsvm.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ANOMALOUS_SHARE 0.02
#define LOF_NEIGHBOURS 20
#define KNN_NEIGHBOURS 10

static double highest_share(const double *score, size_t n)
{
    double *copy = mem_alloc(n, sizeof *copy), threshold;

    memcpy(copy, score, n * sizeof *copy);
    threshold = robust_quantile(copy, n, 1 - ANOMALOUS_SHARE);
    free(copy);
    return threshold;
}

static int score_residual(const struct detector_input *input, size_t n, double *score,
                          double *threshold)
{
    memcpy(score, input->residual->score, n * sizeof *score);
    *threshold = INFINITY; /* by evidence, see scoring_judge */
    return 0;
}

/* For detectors that compare executions with each other. */
static int check_enough(size_t n)
{
    return n >= 2 ? 0
                  : err_set(ERR_RANGE, "%zu execution%s: nothing to compare with", n,
                            n == 1 ? "" : "s");
}

/* lof and knn: neighbours first, then a plain function of them. */
static int score_neighbours(const struct detector_input *input, size_t n, uint32_t k,
                            void (*fn)(const struct neighbours *, double *), double *score,
                            double *threshold)
{
    struct neighbours neighbours;
    int rc = check_enough(n);

    if (rc < 0)
        return rc;
    rc = neighbours_find(input->x, k < n ? k : n - 1, input->pool, &neighbours);
    if (rc == 0) {
        fn(&neighbours, score);
        *threshold = highest_share(score, n);
    }
    neighbours_release(&neighbours);
    return rc;
}

static int score_lof(const struct detector_input *input, size_t n, double *score,
                     double *threshold)
{
    return score_neighbours(input, n, input->k ? input->k : LOF_NEIGHBOURS, lof_score, score,
                            threshold);
}

static int score_knn(const struct detector_input *input, size_t n, double *score,
                     double *threshold)
{
    return score_neighbours(input, n, input->k ? input->k : KNN_NEIGHBOURS, knn_score, score,
                            threshold);
}

/* Outside is what lies further out than rows on the border can by rounding. */
static int score_ocsvm(const struct detector_input *input, size_t n, double *score,
                       double *threshold)
{
    struct ocsvm_opts opts = {.gamma = input->gamma, .nu = input->nu};
    struct ocsvm_result result;
    struct ocsvm *svm;
    int rc;

    (void)n;
    rc = ocsvm_new(input->x, &opts, input->pool, &svm);
    if (rc == 0)
        rc = ocsvm_train(svm, NULL, &result);
    if (rc == 0) {
        ocsvm_score(svm, score);
        ocsvm_settle_border(svm, score);
        *threshold = result.allowed;
    }
    ocsvm_free(svm);
    return rc;
}

static int score_iforest(const struct detector_input *input, size_t n, double *score,
                         double *threshold)
{
    struct iforest_opts opts = {.seed = input->seed};
    int rc = check_enough(n);

    if (rc == 0)
        rc = iforest_score(input->x, &opts, input->pool, score);
    if (rc == 0)
        *threshold = highest_share(score, n);
    return rc;
}

static const struct detector_ops detectors[] = {
    {"residual", "time lost and rare shapes, as calibrated tails", false, false, "reasons",
     score_residual},
    {"ocsvm", "weighted one-class support vector machine", true, true, "ocsvm", score_ocsvm},
    {"lof", "local outlier factor", true, false, NULL, score_lof},
    {"knn", "mean distance to the nearest neighbours", true, false, NULL, score_knn},
    {"iforest", "isolation forest: cuts it takes to have one alone", true, false, NULL,
     score_iforest},
};

const struct detector_ops *detector_find(const char *name)
{
    return named_find(NAMED(detectors), name);
}

const char *detector_name(size_t i)
{
    return named_at(NAMED(detectors), i);
}
