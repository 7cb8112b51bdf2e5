/* One section per learner. */
#include "learn/learner.h"

#include "base/err.h"
#include "base/mem.h"
#include "detect/ocsvm.h"
#include "learn/gp.h"
#include "learn/model_file.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- gp */

double learner_highest(uint32_t n)
{
    return log(fmax(n, 2));
}

static int fit_gp(const struct learner_input *in, const signed char *label, struct gp *gp)
{
    struct gp_input input = {in->rows, in->prior, label, learner_highest(in->n)};
    struct gp_opts opts = gp_opts_default();

    opts.seed = in->seed;
    return gp_fit(gp, &input, &opts);
}

static int rank_gp(struct learner *learner, const signed char *label, double *score,
                   double *threshold)
{
    const struct learner_input *in = &learner->input;
    struct gp gp;
    int rc = fit_gp(in, label, &gp);

    if (rc == 0) {
        gp_score(&gp, in->rows, in->prior, in->pool, score);
        *threshold = in->threshold;
    }
    gp_release(&gp);
    return rc;
}

static int keep_gp(struct learner *learner, const signed char *label, struct model *model)
{
    return fit_gp(&learner->input, label, &model->gp);
}

/* -------------------------------------------------------------------------------- ocsvm */

#define NORMAL_WEIGHT 1.5 /* of C: a normal label's weight; above 1 it cannot be outside */

struct ocsvm_state {
    struct ocsvm *svm;
    double *weight; /* [n] */
};

static void release_ocsvm(struct learner *learner)
{
    struct ocsvm_state *state = learner->state;

    if (state) {
        ocsvm_free(state->svm);
        free(state->weight);
    }
    free(state);
}

static int init_ocsvm(struct learner *learner)
{
    const struct learner_input *in = &learner->input;
    const struct ocsvm_opts opts = {.gamma = in->gamma};
    struct ocsvm_state *state = learner->state = mem_alloc(1, sizeof *state);

    state->weight = mem_alloc(in->n, sizeof *state->weight);
    return ocsvm_new(in->x, &opts, in->pool, &state->svm);
}

/* Abnormal ones weigh nothing, and the weights have to reach C. */
static int check_enough_left(const struct ocsvm_state *state, uint32_t n)
{
    uint32_t n_abnormal = 0;
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += state->weight[i];
        n_abnormal += state->weight[i] == 0;
    }
    if (sum >= OCSVM_NU * n * (1 - 1e-12))
        return 0;
    return err_set(ERR_RANGE,
                   "cannot learn: %u of %u executions are labelled abnormal, which leaves too "
                   "few to learn what is usual",
                   n_abnormal, n);
}

/* The paper's semantics: abnormal ones are left out, normal ones cannot be outside. The
 * threshold is the detector's: without labels no verdict changes. */
static int rank_ocsvm(struct learner *learner, const signed char *label, double *score,
                      double *threshold)
{
    const struct learner_input *in = &learner->input;
    struct ocsvm_state *state = learner->state;
    struct ocsvm_result result;
    int rc;

    for (uint32_t i = 0; i < in->n; i++)
        state->weight[i] = label[i] == LABEL_ABNORMAL ? 0
                           : label[i] == LABEL_NORMAL ? NORMAL_WEIGHT * OCSVM_NU * in->n
                                                      : 1;
    rc = check_enough_left(state, in->n);
    if (rc == 0)
        rc = ocsvm_train(state->svm, state->weight, &result);
    if (rc == 0) {
        ocsvm_score(state->svm, score);
        ocsvm_settle_border(state->svm, score);
        *threshold = result.allowed;
    }
    return rc;
}

static int keep_ocsvm(struct learner *learner, const signed char *label, struct model *model)
{
    struct ocsvm_state *state = learner->state;
    double *score = mem_alloc(learner->input.n, sizeof *score);
    int rc = rank_ocsvm(learner, label, score, &model->threshold);

    if (rc == 0)
        ocsvm_model_init(&model->svm, state->svm);
    free(score);
    return rc;
}

/* ------------------------------------------------------------------------------- public */

static const struct learner_ops learners[] = {
    {"gp", "Gaussian-process correction of the scores", false, NULL, rank_gp, keep_gp, NULL},
    {"ocsvm", "weighted one-class SVM of the features", true, init_ocsvm, rank_ocsvm,
     keep_ocsvm, release_ocsvm},
};

const struct learner_ops *learner_find(const char *name)
{
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++)
        if (strcmp(learners[i].name, name) == 0)
            return &learners[i];
    return NULL;
}

const char *learner_name(size_t i)
{
    return i < sizeof learners / sizeof *learners ? learners[i].name : NULL;
}

int learner_init(struct learner *learner, const struct learner_ops *ops,
                 const struct learner_input *input)
{
    *learner = (struct learner){.ops = ops, .input = *input};
    return ops->init ? ops->init(learner) : 0;
}

void learner_release(struct learner *learner)
{
    if (learner->ops && learner->ops->release)
        learner->ops->release(learner);
    *learner = (struct learner){0};
}

/* Of an execution without a label. Only gp's scores can be compared with the prior. */
static bool is_strange(const struct learner *learner, uint32_t i, double score,
                       double threshold)
{
    const struct learner_input *in = &learner->input;

    if (in->is_anomaly && !learner->ops->needs_matrix && score == in->prior[i])
        return in->is_anomaly[i];
    return score > threshold;
}

int learner_rank(struct learner *learner, const signed char *label, double *score,
                 bool *is_anomaly, double *threshold)
{
    int rc = learner->ops->rank(learner, label, score, threshold);

    for (uint32_t i = 0; rc == 0 && i < learner->input.n; i++)
        is_anomaly[i] = label[i] == LABEL_NONE ? is_strange(learner, i, score[i], *threshold)
                                               : label[i] == LABEL_ABNORMAL;
    return rc;
}

int learner_keep(struct learner *learner, const signed char *label, struct model *model)
{
    return learner->ops->keep(learner, label, model);
}
