/*
 * reasons -- why each execution is as strange as it is, in words that a learner can weigh.
 *
 * A label speaks of executions that are strange for the same reason, not of those that are near
 * in all dimensions. So an execution is a sparse row of words: the part that gave its score
 * with the call path that says most there (its *kind*), the function at the end of that path,
 * the shape that was rare, the part, whether it is a first execution, how large each part is,
 * and, where it was held up together with others, the wave.
 *
 * An entry is the standard deviation that the weight of its column has before any label: a kind
 * may well be of interest or not by itself, a part hardly.
 */
#ifndef SNAG_LEARN_REASONS_H
#define SNAG_LEARN_REASONS_H

#include "detect/residual_score.h"
#include "features/residual.h"
#include "features/rows.h"
#include "forest/forest.h"
#include "trace/definitions.h"

#include <stdint.h>

#define WAVE_NONE UINT32_MAX

/*
 * waves -- executions that were held up together: the same iteration on several locations, at
 * the same time, in which more of them lost time than chance explains.
 *
 * What a person says of one of them says something about the others, in this run. Another run
 * has other waves, so nothing that is learnt of one goes into a model.
 */
struct waves {
    uint32_t n;
    uint32_t *of;     /* [trees] number of its wave, or WAVE_NONE */
    double *evidence; /* [n] -ln of the probability of that much lost time by chance */
};

/*
 * waves_find -- the waves of a forest.
 *   measure  (trees)
 * Executions with the same index that overlap with the one that lost most, or miss it by less
 * than its length, are one wave if Fisher's method finds the time they lost together unlikely:
 * with p their tail probabilities, the sum of m values -ln p is Gamma(m). O(trees log trees).
 */
void waves_find(struct waves *waves, const struct forest *forest,
                const struct residual_measure *measure);
void waves_release(struct waves *waves);

struct reasons {
    struct rows rows;
    uint32_t n_lasting; /* columns that mean the same in another run; waves come after them */
};

/* What is known of the executions. */
struct reasons_input {
    const struct forest *forest;
    const struct residual_model *model;
    const struct residual_place *place;
    const struct residual_measure *measure; /* [trees] */
    const struct residual_scores *scores;   /* of these measures */
};

/*
 * reasons_find -- one row per tree.
 *   with_waves  the forest is a whole run, whose waves are words too
 * Without waves the row of a tree depends on nothing but the tree and the model. O(vertices),
 * see waves_find.
 */
void reasons_find(struct reasons *reasons, const struct reasons_input *input, bool with_waves);
void reasons_release(struct reasons *reasons);

/* reasons_columns -- how many last, for all forests that are placed in one model. */
uint32_t reasons_columns(const struct residual_model *model);

/* reasons_kind -- of execution i; the same number for the same reason, < reasons_columns. */
uint32_t reasons_kind(const struct reasons *reasons, uint32_t i);

#define REASONS_NO_WAVE UINT32_MAX

/*
 * reasons_wave -- the wave that execution i was held up in, < rows.n_cols - n_lasting, or
 * REASONS_NO_WAVE.
 *   strength  out: how likely, 0..1
 */
uint32_t reasons_wave(const struct reasons *reasons, uint32_t i, double *strength);

#define REASON_SIZE 256

/* reasons_say -- a kind in words: "time in a > b", "shape of a", "more calls". */
void reasons_say(uint32_t kind, const struct residual_model *model,
                 const struct definitions *defs, char out[REASON_SIZE]);

#endif
