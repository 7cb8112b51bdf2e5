/*
 * subtrees -- the top subtrees of one execution of a finished run, by the embedding that is
 * kept in it or, where there is none, by one trained for the occasion.
 */
#ifndef SNAG_ANALYSIS_SUBTREES_H
#define SNAG_ANALYSIS_SUBTREES_H

#include "analysis/work.h"
#include "explain/topsubtrees.h"

#include <stdint.h>

#include <sqlite3.h>

struct subtrees {
    struct work work; /* work.is_embedding_new: trained, and not kept */
    struct matrix x;
    uint32_t tree; /* of work.forest */
    struct topsubtrees_input input;
    struct topsubtrees tops;
};

/*
 * subtrees_load -- of one execution.
 *   s                zeroed; release it in any case
 *   location, index  of the execution
 * Returns 0, ERR_NOT_FOUND, or as work_load and work_matrix. As long as the analysis took
 * without reading the trace.
 */
int subtrees_load(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, uint32_t location,
                  uint32_t index, struct pool *pool);
void subtrees_release(struct subtrees *s);

#endif
