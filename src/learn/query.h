/*
 * query -- which executions to ask a person about next; and that played against labels that are
 * known (simulate): how good would the ranking be after so many answers?
 *
 * One answer is to say something of many executions, and ten answers of ten kinds of them. So
 * questions are, in turns, about what is strangest and about what is least certain, each of
 * another kind (reasons.h), and a kind of which something was said already has to wait.
 */
#ifndef SNAG_LEARN_QUERY_H
#define SNAG_LEARN_QUERY_H

#include "detect/auc.h"
#include "learn/learner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct question {
    uint32_t tree;
    uint32_t kind;     /* reasons_say */
    bool is_uncertain; /* asked as it is in doubt, not as it is strange */
};

/*
 * query_next -- the next executions to label, in the order to ask in.
 *   label, score  (n) the labels, and the ranking by them (learner_rank)
 *   most          questions wanted
 *   next          (most) out
 * The detector's score decides between equal ones, then the smaller number. Where scores are no
 * nats there is no doubt to measure: simply the strangest. Returns how many there are: fewer
 * only when fewer are unlabelled. O(n log n + most * kinds).
 */
size_t query_next(const struct learner *learner, const signed char *label, const double *score,
                  size_t most, struct question *next);

/*
 * query_moved -- how many other executions without a label an answer is going to move by a
 * quarter of a nat or more. The learner ranked by these labels last.
 * Returns false where the learner cannot say. O(words of all executions).
 */
bool query_moved(const struct learner *learner, const signed char *label, const double *score,
                 const struct question *question, uint32_t *n_moved);

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
