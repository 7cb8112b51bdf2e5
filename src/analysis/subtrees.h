/*
 * subtrees -- the top subtrees of one execution of a finished run, by the embedding that is
 * kept in it or, where there is none, by one trained for the occasion.
 */
#ifndef SNAG_ANALYSIS_SUBTREES_H
#define SNAG_ANALYSIS_SUBTREES_H

#include "analysis/run_scoring.h"
#include "explain/topsubtrees.h"

#include <stdint.h>

#include <sqlite3.h>

struct subtrees {
    struct scoring work; /* work.is_embedding_new: trained, and not kept */
    struct matrix x;
    uint32_t tree; /* of work.forest */
    struct topsubtrees_input input;
    struct topsubtrees tops;
};

/*
 * subtrees_open -- all that is the same for all executions of a function of interest.
 *   s  zeroed; release it in any case
 * Returns 0 or as run_scoring_load and scoring_matrix. As long as the analysis took without
 * reading the trace. It holds as long as the run: training again gives the same.
 */
int subtrees_open(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, struct pool *pool);

/*
 * subtrees_choose -- those of one execution, instead of those of the one before.
 * Returns 0 or ERR_NOT_FOUND. See topsubtrees_init.
 */
int subtrees_choose(struct subtrees *s, uint32_t location, uint32_t index);

/*
 * subtrees_load -- open and choose. Returns what these do.
 *   s                zeroed; release it in any case
 *   location, index  of the execution
 */
int subtrees_load(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, uint32_t location,
                  uint32_t index, struct pool *pool);
void subtrees_release(struct subtrees *s);

#endif
