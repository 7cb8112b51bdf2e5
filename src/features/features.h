/*
 * features -- what an execution is described by, as a row of a matrix, for the detectors that
 * compare vectors. To add one: one function and one row in features.c.
 */
#ifndef SNAG_FEATURES_FEATURES_H
#define SNAG_FEATURES_FEATURES_H

#include "base/matrix.h"
#include "base/pool.h"
#include "features/residual.h"
#include "features/stack2vec.h"
#include "features/wl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What rows can be made from. */
struct feature_input {
    const struct forest *forest;
    const struct definitions *defs; /* for ranks */
    const struct wl *wl;
    const struct residual_model *model;
    const struct residual_place *place;
    struct pool *pool; /* for what is trained */
    /* Of stack2vec: trained by its options, which must make sense, if it has no words yet. */
    struct stack2vec *embedding;
    struct stack2vec_unseen *unseen; /* out: of an embedding that had words */
};

struct feature_ops {
    const char *name; /* as typed on the command line */
    const char *what;
    bool needs_bags;    /* wl->bags */
    bool has_embedding; /* input->embedding; the others leave it alone */
    bool is_portable;   /* columns mean the same in another run with the same model */
    size_t (*n_columns)(const struct feature_input *input);
    int (*fill)(const struct feature_input *input, struct matrix x);
};

/* feature_find -- the row of the table with this name, or NULL. */
const struct feature_ops *feature_find(const char *name);

/* feature_name -- of row i of the table; NULL after its last. */
const char *feature_name(size_t i);

/*
 * feature_matrix -- one row per tree.
 *   x  out: free(x->x)
 * Returns 0, ERR_RANGE when the matrix would take more than 4 GiB, or what is wrong with the options or BLAS.
 */
int feature_matrix(const struct feature_ops *ops, const struct feature_input *input,
                   struct matrix *x);

#endif
