/*
 * residual_fit -- what the parts of learning a model share: residual_fit.c goes through them,
 * residual_times.c finds what is usual of the times of calls, by call path and class. Nobody
 * else includes it.
 */
#ifndef SNAG_FEATURES_RESIDUAL_FIT_H
#define SNAG_FEATURES_RESIDUAL_FIT_H

#include "features/residual.h"
#include "features/robust.h"
#include "features/schedule.h"

#include <stdbool.h>
#include <stdint.h>

/* What fitting goes over. */
struct fit {
    struct residual_model *m;
    struct residual_place *place;
    const struct residual_input *in;
    const struct forest *forest;
    const struct tree_kinds *kinds;
    const struct tree_share *share;
    uint32_t n_trees;                /* of all processes */
    struct kind_sets paths, classes; /* of the kinds */
    uint32_t *path_of;               /* [classes] */
    struct dealing deal;             /* of paths */
    unsigned *owner;                 /* [paths] */
    bool *is_split;                  /* [paths] not dealt: each process keeps its own times */
    uint64_t longest_ns;             /* exclusive time */
};

/* residual_deal_paths -- which paths are split, who has which of the others, and the own ones;
 * of the counts in the model. The same on all processes. */
void residual_deal_paths(struct fit *fit);

/*
 * residual_fit_contexts -- centre and width of the times of each path and class, in the model.
 * All processes call it. O(vertices) for each digit of the times.
 */
void residual_fit_contexts(const struct fit *fit);

#endif
