/*
 * waves -- executions that were held up together: the same iteration on several locations, at
 * the same time, in which more of them lost time than chance explains.
 *
 * What a person says of one of them says something about the others, in this run. Another run
 * has other waves, so nothing that is learnt of one goes into a model.
 */
#ifndef SNAG_LEARN_WAVES_H
#define SNAG_LEARN_WAVES_H

#include "features/residual.h"
#include "forest/forest.h"

#include <stdint.h>

#define WAVE_NONE UINT32_MAX

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

#endif
