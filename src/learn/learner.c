/* One section per learner. */
#include "learn/learner.h"

#include "base/mem.h"
#include "learn/gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- gp */

/* Abnormal executions are to score as the strangest of n by rank. */
static double highest(const struct learner_input *in)
{
    return log(fmax(in->n, 2));
}

static int rank_gp(struct learner *learner, const signed char *label, double *score,
                   double *threshold)
{
    const struct learner_input *in = &learner->input;
    struct gp_input input = {in->rows, in->prior, label, highest(in)};
    struct gp_opts opts = gp_opts_default();
    struct gp gp;
    int rc;

    opts.seed = in->seed;
    rc = gp_fit(&gp, &input, &opts);
    if (rc == 0) {
        gp_score(&gp, in->rows, in->prior, in->pool, score);
        *threshold = in->threshold;
    }
    gp_release(&gp);
    return rc;
}

/* ------------------------------------------------------------------------------- public */

static const struct learner_ops learners[] = {
    {"gp", "Gaussian-process correction of the scores", false, NULL, rank_gp, NULL},
};

const struct learner_ops *learner_find(const char *name)
{
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++)
        if (strcmp(learners[i].name, name) == 0)
            return &learners[i];
    return NULL;
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

int learner_rank(struct learner *learner, const signed char *label, double *score,
                 bool *is_anomaly, double *threshold)
{
    int rc = learner->ops->rank(learner, label, score, threshold);

    for (uint32_t i = 0; rc == 0 && i < learner->input.n; i++)
        is_anomaly[i] =
            label[i] == LABEL_NONE ? score[i] > *threshold : label[i] == LABEL_ABNORMAL;
    return rc;
}
