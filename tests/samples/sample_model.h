/* sample_model -- a forest said in one line, and the model that was learnt from it, for tests.
 */
#ifndef SNAG_TESTS_SAMPLE_MODEL_H
#define SNAG_TESTS_SAMPLE_MODEL_H

#include "features/residual.h"

#include "sample_forest.h"

struct sample_model {
    struct definitions defs;
    struct forest forest;
    struct wl wl;
    struct residual_model model;
    struct residual_place place;
    struct residual_measure *measure; /* [forest.n_trees] */
};

/* sample_model_init -- of the trees of a text (sample_forest.h). */
void sample_model_init(struct sample_model *m, const char *text);

/* sample_model_learn -- of the trees that are in the forest, when all else is 0. */
void sample_model_learn(struct sample_model *m);
void sample_model_release(struct sample_model *m);

#endif
