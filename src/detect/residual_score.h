/*
 * residual_score -- the default detector: how strange a tree is by the residuals of its calls
 * and the rarity of its shapes.
 *
 * Four parts, each a tail probability among the trees of a forest in nats; the score is the
 * largest, so that a tree is as strange as its strangest aspect:
 *
 *     time        time lost beyond doubt; may go one nat beyond the number of trees
 *     gross       time lost in all, doubtful or not; one nat less
 *     structure   its rarest shape
 *     size        many more or fewer calls than usual
 *
 * The verdict asks how strong the evidence is in absolute terms, as the most extreme of n trees
 * always has a tail probability of 1/n: as many trees are anomalies as have strong evidence,
 * and those are the ones with the highest scores.
 *
 * What a tree is compared with is a yardstick, made from the trees of one forest. It can be
 * kept, to score the trees of another run on the same scale.
 */
#ifndef SNAG_DETECT_RESIDUAL_SCORE_H
#define SNAG_DETECT_RESIDUAL_SCORE_H

#include "detect/tails.h"
#include "features/residual.h"

#include <stddef.h>

#define RESIDUAL_STRONG 4.5 /* evidence; one in ninety clean forests' trees of a hundred */

enum score_part { PART_TIME, PART_GROSS, PART_STRUCTURE, PART_SIZE, N_PARTS };

struct yardstick {
    struct tail part[N_PARTS]; /* of the measure behind each part */
    double threshold;          /* a score above it is an anomaly; INFINITY if there were none */
};

struct residual_scores {
    double *score;          /* [n] nats, >= 0 */
    enum score_part *part;  /* [n] the one that attained it */
    double *value[N_PARTS]; /* [n] each part */
    double *evidence;       /* [n] how strong it is in absolute terms, nats */
    double threshold;       /* a score above it is an anomaly; INFINITY for none */
};

/* yardstick_fit -- from the measures of n trees; its threshold is not set yet. */
void yardstick_fit(struct yardstick *yardstick, const struct residual_measure *measure,
                   size_t n);
void yardstick_release(struct yardstick *yardstick);

/* yardstick_pack, yardstick_unpack -- to bytes and back; the pack is bad if it is damaged. */
void yardstick_pack(const struct yardstick *yardstick, struct pack *pack);
void yardstick_unpack(struct yardstick *yardstick, struct pack *pack);

/*
 * residual_score -- of n trees from their measures.
 *   yardstick  from the same trees: its threshold is set to what suits them; or from others:
 *              its threshold holds
 *   is_own     which of the two
 *   out        released by residual_scores_release
 * All scores are 0 for one tree, or for equal ones. O(n log n).
 */
void residual_score(struct yardstick *yardstick, bool is_own,
                    const struct residual_measure *measure, size_t n,
                    struct residual_scores *out);
void residual_scores_release(struct residual_scores *scores);

/* score_part_name -- "time", "gross", "structure", "size". */
const char *score_part_name(enum score_part part);

#endif
