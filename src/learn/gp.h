/*
 * gp -- a Gaussian-process correction of a ranking by a person's labels.
 *
 *     score(x) = prior(x) + k(x, P) (K_PP + noise)^-1 (target - prior(P))
 *
 * The prior is the detector's score in nats, the points P are the labelled executions (target 0
 * for normal, `high` for abnormal) and a sample of unlabelled background, which are taken as
 * normal, weakly. The kernel is an RBF, so what is far from any label keeps its score, and a
 * new ranking is one solve as large as the number of points.
 *
 * Source: Rasmussen, Williams. Gaussian Processes for Machine Learning. 2006, section 2.2, with
 * a mean function (2.7). Departs from it: a corrected score never falls below a share of the
 * prior, so that what was suppressed keeps its order above the plain normal ones; labels that
 * say the same about nearly the same execution are one point, with less noise.
 */
#ifndef SNAG_LEARN_GP_H
#define SNAG_LEARN_GP_H

#include "base/pool.h"
#include "features/rows.h"

#include <stdint.h>

struct gp_opts {
    double length;           /* of the RBF */
    double label_noise;      /* variance of what a person says, in units of the kernel */
    double background_noise; /* and of what is merely taken as normal */
    uint32_t n_background;
    double floor; /* share of the prior below which no score falls */
    uint64_t seed;
};

/* gp_opts_default -- what docs/learning.md justifies. */
struct gp_opts gp_opts_default(void);

struct gp {
    struct gp_opts opts;
    struct rows points;
    double *alpha; /* [points.n] */
};

/* What is known of every execution, row by row. */
struct gp_input {
    const struct rows *rows;
    const double *prior;      /* [rows->n] >= 0 */
    const signed char *label; /* [rows->n] 1 abnormal, -1 normal, 0 not labelled */
    double high;              /* target of an abnormal execution; priors above it count as it */
};

/*
 * gp_fit -- learn from labels; without any, the correction is 0 everywhere.
 * Returns 0, or ERR_RANGE when the rows are not finite or the kernel matrix has no inverse.
 * O(points^3 + labels * points * entries of a row); labels beyond 1,500 that differ are merged
 * with the most similar one.
 */
int gp_fit(struct gp *gp, const struct gp_input *input, const struct gp_opts *opts);
void gp_release(struct gp *gp);

/*
 * gp_score -- corrected scores.
 *   rows   of as many columns as those that were learnt from
 *   prior  (rows->n)
 *   score  (rows->n) out; may be prior
 * O(points * entries). The same on any number of threads.
 */
void gp_score(const struct gp *gp, const struct rows *rows, const double *prior,
              struct pool *pool, double *score);

/* gp_pack, gp_unpack -- to bytes and back. Returns 0 or ERR_FORMAT. */
void gp_pack(const struct gp *gp, struct pack *pack);
int gp_unpack(struct gp *gp, struct pack *pack);

#endif
