/*
 * residual_score -- the default detector: how strange a tree is by the residuals of its calls
 * and the rarity of its shapes.
 *
 * Five parts, each a tail probability among the trees of a forest in nats; the score is the
 * largest, so that a tree is as strange as its strangest aspect:
 *
 *     time        time lost beyond doubt; may go one nat beyond the number of trees
 *     gross       time lost in all, doubtful or not, but for waits for others that came late;
 *                 one nat less
 *     structure   its rarest shape
 *     size        many more or fewer calls than typical
 *     short       it took far less than executions like it: work left out, an early return
 *
 * The score is the largest, and what the others have beyond what one execution in twenty
 * reaches: aspects that agree add up.
 *
 * The verdict asks how far out an execution is, by tails that fall off at fixed rates: an
 * anomaly is what would be expected less than once a run if they do, or as often as is asked
 * for (docs/algorithms.md, section 7). Time decides only from RESIDUAL_MIN_LOST on: 30 us of
 * 2 ms may never happen by chance, and yet nobody looks for them. Where begins and ends are
 * estimates it must be that much more than these may be off by.
 *
 * How often chance does the same is another question, and is answered with the tail that the
 * run has (tail_reach): of runs in which nothing is wrong, one in N at most is to have an
 * execution of which it is said that this happens in one of N runs.
 *
 * What a tree is compared with is a calibration, made from the trees of one forest. It can be
 * kept, to score the trees of another run on the same scale.
 */
#ifndef SNAG_DETECT_RESIDUAL_SCORE_H
#define SNAG_DETECT_RESIDUAL_SCORE_H

#include "detect/tails.h"
#include "features/residual.h"

#include <stddef.h>

#define RESIDUAL_FALSE_ALARMS 1.0 /* a run, unless something else is asked for */
#define RESIDUAL_MIN_LOST 0.05    /* typical durations */

enum score_part { PART_TIME, PART_GROSS, PART_STRUCTURE, PART_SIZE, PART_SHORT, N_PARTS };

/* What is measured: what each part is made of, and the logarithm of the own part of gross. */
enum { MEASURE_OWN = N_PARTS, N_MEASURES };

struct calibration {
    struct tail tail[N_MEASURES];
    struct {
        double value, rank; /* the highest that says what is typical; nats of what is above */
        double n_above;     /* values; known of it is no more than they say */
    } anchor[N_MEASURES];
    struct tail_reach time, gross,
        brief;          /* how far chance may go: X, the logarithm of G, shortness */
    double strong;      /* evidence that makes an anomaly, nats */
    double most_tracer; /* score for what the tracer took: below any anomaly */
    double threshold;   /* what labels carry over it has another verdict; or NAN */
};

struct residual_scores {
    double *score;          /* [n] nats, >= 0 */
    enum score_part *part;  /* [n] the one that attained it */
    double *value[N_PARTS]; /* [n] each part */
    bool *is_by_tracer; /* [n] it scores what it does for what the tracer took of its time */
    bool *is_long;      /* [n] what it lost would make it an anomaly, whatever else there is */
    double *evidence;   /* [n] how far out it is, nats */
    double *weight;     /* [n] the same, but nothing for time too short to matter: decides */
    double
        *chance; /* [n] probability that chance makes one of its times so long, or so short */
};

/*
 * calibration_fit -- from the measures of n trees, for RESIDUAL_FALSE_ALARMS; its threshold is
 * not set yet.
 *   pool  whose threads fit; may be NULL
 */
void calibration_fit(struct calibration *calibration, const struct residual_measure *measure,
                     size_t n, struct pool *pool);
void calibration_release(struct calibration *calibration);

/* calibration_pack, calibration_unpack -- to bytes and back; the pack is bad if it is damaged.
 * */
void calibration_pack(const struct calibration *calibration, struct pack *pack);
void calibration_unpack(struct calibration *calibration, struct pack *pack);

/*
 * residual_score -- of n trees from their measures.
 *   calibration  just fitted to the same trees: its threshold is set to what suits them; or
 *                from
 *              others: its threshold holds
 *   pool       whose threads score; may be NULL
 *   out        released by residual_scores_release
 * All scores are 0 for one tree, or for equal ones. O(n log n).
 */
void residual_score(struct calibration *calibration, const struct residual_measure *measure,
                    size_t n, struct pool *pool, struct residual_scores *out);
/*
 * residual_score_raise -- give tree i, with this measure, at least so much evidence for what it
 * lost: others like it are evidence that it has not alone. Its score is that of what just is an
 * anomaly.
 *   evidence  nats, of an anomaly
 */
void residual_score_raise(const struct calibration *calibration,
                          const struct residual_measure *m, size_t i, double evidence,
                          struct residual_scores *scores);
void residual_scores_release(struct residual_scores *scores);

/*
 * calibration_strong -- the evidence that makes an anomaly, so that of n executions of a run in
 * which nothing is wrong, so many are expected to be called one.
 *   false_alarms  > 0
 * INFINITY when the calibration is of too few to call any an anomaly.
 */
double calibration_strong(const struct calibration *calibration, double n, double false_alarms);

/* calibration_executions -- of a run like those that it is made of; what "so many in a run"
 * refers to. INFINITY when these were too few to call any an anomaly. */
double calibration_executions(const struct calibration *calibration);

/*
 * threshold_between -- the score that so many are above, close to the lowest of them: what
 * labels make a little less strange is below. (n), 0 <= n_above <= n, n >= 1 None: a little
 * above the highest. O(n log n).
 */
double threshold_between(const double *score, size_t n, size_t n_above);

/* score_part_name -- "time", "gross", "structure", "size", "short". */
const char *score_part_name(enum score_part part);

#endif
