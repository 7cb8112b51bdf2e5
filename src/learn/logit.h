/*
 * logit -- a Bayesian logistic correction of a ranking by a person's labels.
 *
 *     logit P(x abnormal) = STEEPNESS (score(x) - pivot) + w . x,      w ~ N(0, 1)
 *
 * score is the detector's, in nats, and pivot the one at which it is in doubt; x are words of
 * the reason (reasons.h), scaled so that every weight has the same prior. What is learnt is the
 * most probable w (Laplace's approximation), and it moves scores by w . x / STEEPNESS nats. Few
 * labels move it little, no label not at all, and only executions that share words.
 *
 * Source: MacKay. The evidence framework applied to classification networks. Neural Computation
 * 1992. Departs from it: what a person confirms is learnt from as if its score had left it in
 * doubt, or it would teach nothing; a corrected score never falls below a share of the
 * detector's, so that what was suppressed keeps its order above the plain normal ones.
 */
#ifndef SNAG_LEARN_LOGIT_H
#define SNAG_LEARN_LOGIT_H

#include "base/pack.h"
#include "base/pool.h"
#include "features/rows.h"

#include <stdbool.h>
#include <stdint.h>

struct logit {
    uint32_t n_cols; /* 0: nothing was learnt */
    double *weight;  /* [n_cols] in logits */

    /* Of the labels it was learnt from; not kept in bytes. */
    uint32_t n_labels, *label_row; /* [n_labels] */
    uint32_t *n_heard;             /* [n_labels] columns that it speaks of: the first ones */
    double *curvature;             /* [n_labels] p (1 - p) */
};

/* What is known of every execution, row by row. */
struct logit_input {
    const struct rows *rows;
    const double *score;      /* [rows->n] */
    const signed char *label; /* [rows->n] 1 abnormal, -1 normal, 0 not labelled */
    double pivot;
    uint32_t n_lasting; /* columns; those after them a label `normal` does not speak of */
};

/*
 * logit_fit -- the most probable weights; none without labels. Release in any case.
 * O(labels * words of a row) a step, in hundreds of steps; the same on any machine of a kind.
 */
void logit_fit(struct logit *logit, const struct logit_input *input);
void logit_release(struct logit *logit);

/*
 * logit_score -- corrected scores.
 *   rows   words with numbers of n_cols or more are passed over
 *   prior  (rows->n) the detector's
 *   score  (rows->n) out; may be prior
 * O(words). The same on any number of threads.
 */
void logit_score(const struct logit *logit, const struct rows *rows, const double *prior,
                 struct pool *pool, double *score);

/*
 * logit_verdict -- whether an execution is an anomaly, once labels have moved its score. What
 * the detector said holds, which goes by more than the score, unless they carried it over the
 * threshold, and by a quarter of a nat or more.
 *   was_anomaly  the detector's verdict
 *   prior        the detector's score, nats
 *   score        the corrected one
 *   threshold    of scores; there may be anomalies below, and others above
 */
bool logit_verdict(bool was_anomaly, double prior, double score, double threshold);

/*
 * logit_moves -- how many executions without a label an answer about row i would move by a
 * quarter of a nat or more, if it is the less expected one; i itself is not counted.
 *   corrected  (input->rows->n) by logit_score
 * What is learnt already counts with its curvature; so it is exact for the first label.
 * O(words of all rows).
 */
uint32_t logit_moves(const struct logit *logit, const struct logit_input *input,
                     const double *corrected, uint32_t i);

/* logit_keep -- forget all but the first n columns, and the labels. */
void logit_keep(struct logit *logit, uint32_t n);

/* logit_pack, logit_unpack -- to bytes and back. Returns 0 or ERR_FORMAT. */
void logit_pack(const struct logit *logit, struct pack *pack);
int logit_unpack(struct logit *logit, struct pack *pack);

#endif
