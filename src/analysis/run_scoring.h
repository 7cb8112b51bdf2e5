/*
 * run_scoring -- the executions of a function of interest from the columns of a run, and what a
 * finished run knows of them.
 */
#ifndef SNAG_ANALYSIS_RUN_SCORING_H
#define SNAG_ANALYSIS_RUN_SCORING_H

#include "run/columns.h"
#include "score/scoring.h"

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/*
 * run_scoring_collect -- the executions of a function; nothing but the forest is set.
 *   s     zeroed, but for pool
 *   defs  regions as in the columns; must outlive s
 * Returns 0, ERR_NOT_FOUND when the function is never called, ERR_RANGE, or ERR_FORMAT as
 * columns_check. O(calls).
 */
int run_scoring_collect(struct scoring *s, const struct columns *columns,
                        const struct definitions *defs, uint32_t region);

/*
 * run_scoring_collect_part -- the same of some locations.
 *   location  (n) which, ascending
 * There may be no executions on them.
 */
int run_scoring_collect_part(struct scoring *s, const struct columns *columns,
                             const struct definitions *defs, uint32_t region,
                             const uint32_t *location, uint32_t n);

/*
 * run_scoring_region -- which region the FOI `foi` of a run is.
 * Returns 0, ERR_FORMAT when it is none of defs, or ERR_DATABASE.
 */
int run_scoring_region(sqlite3 *db, const struct definitions *defs, int64_t foi,
                       uint32_t *region);

/*
 * run_scoring_load -- what a finished run knows about one of its functions of interest.
 *   s          zeroed, but for what was said of embedding.opts (stack2vec_override); the
 *              analysis's hold for the rest. Release it in any case
 *   db         the run's; its columns and definitions (run_summary_definitions) go with it
 *   foi        id in table foi; tree t of the forest is its execution (foi, tree = t)
 *   with_bags  as scoring_learn
 * The measures are those of the analysis. Returns 0, ERR_NOT_FOUND, ERR_FORMAT when the columns
 * or the model do not fit the database, or ERR_DATABASE. As long as run_scoring_collect and
 * scoring_learn.
 */
int run_scoring_load(struct scoring *s, sqlite3 *db, const struct columns *columns,
                     const struct definitions *defs, int64_t foi, bool with_bags);

#endif
