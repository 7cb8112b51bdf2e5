/*
 * causes -- the cause chains of executions: where one lost its time, by the model of its
 * forest, and what that goes back to on other ranks.
 */
#ifndef SNAG_ANALYSIS_CAUSES_H
#define SNAG_ANALYSIS_CAUSES_H

#include "explain/cause.h"
#include "features/residual.h"
#include "forest/forest.h"
#include "run/columns.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CAUSES 4096 /* executions of a function whose chain is followed unasked */

struct causes {
    struct trace_view view;
    struct stretch stretch;
    struct cause cause; /* of the execution looked at last */
    double *lost_ns;
    size_t lost_cap;
};

/*
 * causes_init -- look at a run.
 *   defs  regions and locations as in the columns; both must stay. O(locations)
 */
void causes_init(struct causes *causes, const struct columns *columns,
                 const struct definitions *defs);
void causes_release(struct causes *causes);

/*
 * causes_of -- find the chain of tree t.
 * Returns false when no call of it lost any time; else causes->cause is set. O(vertices of the
 * tree + the chain).
 */
bool causes_of(struct causes *causes, const struct residual_model *model,
               const struct residual_place *place, const struct forest *forest, uint32_t t);

#endif
