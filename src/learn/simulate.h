/*
 * simulate -- active learning played against labels that are known: how good would the ranking
 * be after so many answers?
 */
#ifndef SNAG_LEARN_SIMULATE_H
#define SNAG_LEARN_SIMULATE_H

#include "detect/auc.h"
#include "learn/learner.h"

#include <stdbool.h>
#include <stddef.h>

/* After so many answers. */
struct simulate_point {
    size_t n_labels;
    struct auc all;
    double unlabelled_pr; /* over executions never asked about; NAN if none is abnormal */
};

/* Told after every round; returns false to stop. */
typedef bool simulate_fn(void *ctx, const struct simulate_point *point);

/*
 * simulate -- ask, label, learn, until `most` executions are labelled or all are.
 *   is_abnormal  (n) the truth
 *   batch        questions per round, >= 1
 *   fn           called before the first round and after each
 * Returns 0, or ERR_RANGE when one of the classes is empty.
 */
int simulate(struct learner *learner, const bool *is_abnormal, size_t most, size_t batch,
             simulate_fn *fn, void *ctx);

#endif
