/* One section per learner. */
#include "learn/learner.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/named.h"
#include "detect/ocsvm.h"
#include "learn/logit.h"
#include "learn/model_file.h"
#include "learn/reasons.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------ reasons */

#define NORMAL_SHARE 0.2 /* of the detector's score, at most, for what is labelled normal */

static int init_reasons(struct learner *learner)
{
    learner->state = mem_alloc(1, sizeof(struct logit));
    learner->pivot = learner->input.threshold;
    return 0;
}

static void release_reasons(struct learner *learner)
{
    if (learner->state)
        logit_release(learner->state);
    free(learner->state);
}

static struct logit_input logit_input(const struct learner *learner, const signed char *label)
{
    const struct learner_input *in = &learner->input;

    return (struct logit_input){&in->reasons->rows, in->prior, label, learner->pivot,
                                in->reasons->n_lasting};
}

/* What a person is sure of: as strange as the strangest, or hardly strange at all. */
static void pin_labelled(const struct learner_input *in, const signed char *label,
                         double *score)
{
    double highest = log(fmax(in->n, 2));

    for (uint32_t i = 0; i < in->n; i++)
        highest = fmax(highest, score[i]);
    for (uint32_t i = 0; i < in->n; i++) {
        if (label[i] == LABEL_ABNORMAL)
            score[i] = highest;
        if (label[i] == LABEL_NORMAL)
            score[i] = fmin(score[i], NORMAL_SHARE * in->prior[i]);
    }
}

static int rank_reasons(struct learner *learner, const signed char *label, double *score,
                        double *threshold)
{
    const struct learner_input *in = &learner->input;
    struct logit_input input = logit_input(learner, label);

    logit_release(learner->state);
    logit_fit(learner->state, &input);
    logit_score(learner->state, input.rows, in->prior, in->pool, score);
    pin_labelled(in, label, score);
    *threshold = in->threshold;
    return 0;
}

static int keep_reasons(struct learner *learner, const signed char *label, struct model *model)
{
    struct logit_input input = logit_input(learner, label);

    logit_fit(&model->logit, &input);
    logit_keep(&model->logit, learner->input.reasons->n_lasting);
    return 0;
}

static uint32_t moved_by_reasons(const struct learner *learner, const signed char *label,
                                 const double *score, uint32_t i)
{
    struct logit_input input = logit_input(learner, label);

    return logit_moves(learner->state, &input, score, i);
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
    const struct ocsvm_opts opts = {.gamma = in->gamma, .nu = in->nu};
    struct ocsvm_state *state = learner->state = mem_alloc(1, sizeof *state);

    state->weight = mem_alloc(in->n, sizeof *state->weight);
    return ocsvm_new(in->x, &opts, in->pool, &state->svm);
}

/* C of equation 1. */
static double total_of(const struct learner_input *in)
{
    return (in->nu > 0 ? in->nu : OCSVM_NU) * in->n;
}

/* Abnormal ones weigh nothing, and the weights have to reach C. */
static int check_enough_left(const struct ocsvm_state *state, const struct learner_input *in)
{
    uint32_t n = in->n;
    uint32_t n_abnormal = 0;
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += state->weight[i];
        n_abnormal += state->weight[i] == 0;
    }
    if (sum >= total_of(in) * (1 - 1e-12))
        return 0;
    return err_set(ERR_RANGE,
                   "cannot learn: %u of %u executions are labelled abnormal, which leaves too "
                   "few to learn what is typical",
                   n_abnormal, n);
}

/* The paper's semantics: abnormal ones are left out, normal ones cannot be outside. The
 * threshold is the analysis's: without labels no verdict changes. */
static int rank_ocsvm(struct learner *learner, const signed char *label, double *score,
                      double *threshold)
{
    const struct learner_input *in = &learner->input;
    struct ocsvm_state *state = learner->state;
    struct ocsvm_result result;
    int rc;

    for (uint32_t i = 0; i < in->n; i++)
        state->weight[i] = label[i] == LABEL_ABNORMAL ? 0
                           : label[i] == LABEL_NORMAL ? NORMAL_WEIGHT * total_of(in)
                                                      : 1;
    rc = check_enough_left(state, in);
    if (rc == 0)
        rc = ocsvm_train(state->svm, state->weight, &result);
    if (rc == 0) {
        ocsvm_score(state->svm, score);
        ocsvm_settle_border(state->svm, score);
        *threshold = isnan(in->machine_threshold) ? result.allowed : in->machine_threshold;
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
    {"reasons", "weighs the reasons why executions are strange", false, init_reasons,
     rank_reasons, keep_reasons, moved_by_reasons, release_reasons},
    {"ocsvm", "weighted one-class SVM of the features", true, init_ocsvm, rank_ocsvm,
     keep_ocsvm, NULL, release_ocsvm},
};

const struct learner_ops *learner_find(const char *name)
{
    return named_find(NAMED(learners), name);
}

const char *learner_name(size_t i)
{
    return named_at(NAMED(learners), i);
}

int learner_init(struct learner *learner, const struct learner_ops *ops,
                 const struct learner_input *input)
{
    *learner = (struct learner){.ops = ops, .input = *input, .pivot = NAN};
    return ops->init ? ops->init(learner) : 0;
}

void learner_release(struct learner *learner)
{
    if (learner->ops && learner->ops->release)
        learner->ops->release(learner);
    *learner = (struct learner){0};
}

/* Of an execution without a label. Only what corrects the prior can be compared with it. */
static bool is_strange(const struct learner *learner, uint32_t i, double score,
                       double threshold)
{
    const struct learner_input *in = &learner->input;

    if (in->is_anomaly == NULL || learner->ops->needs_matrix)
        return score > threshold;
    if (in->is_threshold_exact && score != in->prior[i])
        return score > threshold;
    return logit_verdict(in->is_anomaly[i], in->prior[i], score, threshold);
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
