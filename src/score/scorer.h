/*
 * scorer -- a model of an earlier run (model_file.h), asked about forest after forest of this
 * one: the executions that a step of a running program has finished.
 *
 * The model has its own numbers for functions; those of the program are translated as they
 * appear, by name. Functions that the model has never seen are on paths it does not know. Names
 * that hold lines are other ones in another build: region_name.h.
 */
#ifndef SNAG_SCORE_SCORER_H
#define SNAG_SCORE_SCORER_H

#include "score/scoring.h"

struct scorer;

/* scorer_open -- out: NULL on failure. Returns 0 or as model_file_read. */
int scorer_open(const char *path, struct scorer **out);

/* scorer_close -- NULL is harmless. */
void scorer_close(struct scorer *scorer);

/* scorer_foi -- the full name of the function it is about. */
const char *scorer_foi(const struct scorer *scorer);

/* scorer_foi_among -- that function in a program, or NAMES_NONE. */
uint32_t scorer_foi_among(const struct scorer *scorer, const struct definitions *defs);

/*
 * scorer_judge -- all trees of a forest.
 *   forest  of that function; must outlive the calls of scorer_why
 *   defs    of its regions; from call to call they may only grow
 *   waits   of the forest's calls, asked by one thread
 *   out     scores and verdicts, until the next call
 * Returns 0 or as scoring_judge. O(vertices), see wl_init.
 */
int scorer_judge(struct scorer *scorer, const struct forest *forest,
                 const struct definitions *defs, struct own_waits waits,
                 const struct scoring **out);

/* scorer_why -- what makes tree t of that forest strange, in a sentence. */
void scorer_why(const struct scorer *scorer, uint32_t t, char out[WHY_SIZE]);

/*
 * scorer_excess -- what each call of tree t of that forest lost, as excess_lost.
 *   out  (vertices of t) ns
 */
void scorer_excess(const struct scorer *scorer, uint32_t t, double *out);

#endif
