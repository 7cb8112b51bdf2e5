/*
 * tree_model -- what an earlier run taught (model_file.h), asked about executions of this one.
 *
 * Scores are those of `snag score` on the same trace: every execution is compared with those
 * that the model was made from, never with its neighbours, so it does not matter how many are
 * asked about at once.
 *
 * The model has its own numbers for functions; those of the stream are translated as they
 * appear, by name. Functions that the model has never seen are on paths it does not know.
 */
#ifndef SNAG_LIVE_TREE_MODEL_H
#define SNAG_LIVE_TREE_MODEL_H

#include "explain/why.h"
#include "forest/forest.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

struct tree_model;

/* tree_model_open -- out: NULL on failure. Returns 0 or as model_file_read. */
int tree_model_open(const char *path, struct tree_model **out);

/* tree_model_close -- NULL is harmless. */
void tree_model_close(struct tree_model *m);

/* tree_model_foi -- the full name of the function it is about. */
const char *tree_model_foi(const struct tree_model *m);

/*
 * tree_model_score -- of all trees of a forest.
 *   forest  of that function; must outlive the calls of tree_model_why
 *   defs    of its regions; from call to call they may only grow
 * Returns 0, or ERR_RANGE when a feature is not finite. O(vertices), see wl_init; by a
 * one-class SVM O(trees * support vectors) more.
 */
int tree_model_score(struct tree_model *m, const struct forest *forest,
                     const struct definitions *defs);

/*
 * What was found, per tree of the forest that was scored last. Where the run of the model had
 * no anomalies there is no threshold but INFINITY; then an anomaly is what has strong evidence.
 */
double tree_model_score_of(const struct tree_model *m, uint32_t t);
bool tree_model_is_anomaly(const struct tree_model *m, uint32_t t);
double tree_model_threshold(const struct tree_model *m);

/* tree_model_why -- what makes tree t strange, in a sentence. */
void tree_model_why(struct tree_model *m, uint32_t t, char out[WHY_SIZE]);

#endif
