/*
 * learner -- the ways to make a new ranking of a detector's scores and a person's labels. To
 * add one: one adapter and one row in learner.c.
 */
#ifndef SNAG_LEARN_LEARNER_H
#define SNAG_LEARN_LEARNER_H

#include "base/matrix.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a person says of an execution. */
enum label { LABEL_NORMAL = -1, LABEL_NONE = 0, LABEL_ABNORMAL = 1 };

struct reasons;

/* What can be learnt from. */
struct learner_input {
    uint32_t n;
    const struct reasons *reasons; /* for learners that need no matrix, and for questions */
    struct matrix x;               /* (n, cols) for those that do */
    const double *prior;           /* [n] the detector's score, in nats */
    const bool *is_anomaly;   /* [n] its verdicts, which hold unless labels carry a score over
                               the threshold (logit_verdict); NULL: go by the threshold */
    double threshold;         /* of the prior */
    bool is_threshold_exact;  /* what labels move is judged by it alone: a person has set it */
    double machine_threshold; /* of ocsvm's scores, if a person has set it; NAN: its own */
    double gamma;             /* of ocsvm's kernel, 0 to take it from x */
    double nu;                /* of ocsvm: the share that may be outside; 0: OCSVM_NU */
    uint64_t seed;
    struct pool *pool;
};

struct learner;
struct model;

struct learner_ops {
    const char *name; /* as typed on the command line */
    const char *what;
    bool needs_matrix;
    int (*init)(struct learner *learner);
    /* Scores of all rows, and the threshold above which one is an anomaly. */
    int (*rank)(struct learner *learner, const signed char *label, double *score,
                double *threshold);
    /* Puts what is learnt from the labels into a model. */
    int (*keep)(struct learner *learner, const signed char *label, struct model *model);
    /* How many others an answer about i would move, after rank by these labels gave these
     * scores; NULL: it cannot say. */
    uint32_t (*moved)(const struct learner *learner, const signed char *label,
                      const double *score, uint32_t i);
    void (*release)(struct learner *learner);
};

struct learner {
    const struct learner_ops *ops;
    struct learner_input input;
    double pivot; /* the score that is in doubt, in nats; NAN where scores are no nats */
    void *state;  /* what the method keeps from one label to the next */
};

/* learner_find -- the row of the table with this name, or NULL. */
const struct learner_ops *learner_find(const char *name);

/* learner_name -- of row i of the table; NULL after its last. */
const char *learner_name(size_t i);

/*
 * learner_init -- ready to rank; what input points to must stay.
 * Returns 0, or ERR_RANGE when the features cannot be learnt from. Release in any case.
 */
int learner_init(struct learner *learner, const struct learner_ops *ops,
                 const struct learner_input *input);
void learner_release(struct learner *learner);

/*
 * learner_rank -- the ranking by these labels.
 *   label         (n) enum label
 *   score         (n) out
 *   is_anomaly    (n) out: what a person said, and the threshold for the rest
 *   threshold     out
 * Without labels it is the detector's own. Returns 0 or ERR_RANGE. The same on any number of
 * threads, and from whatever labels it came.
 */
int learner_rank(struct learner *learner, const signed char *label, double *score,
                 bool *is_anomaly, double *threshold);

/*
 * learner_keep -- what is learnt from these labels, into a model that has nothing of it yet
 * (model_file.h). Returns as learner_rank.
 */
int learner_keep(struct learner *learner, const signed char *label, struct model *model);

#endif
