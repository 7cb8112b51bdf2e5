/* execution_points -- executions of functions of interest as points of the live page. */
#ifndef SNAG_WEB_EXECUTION_POINTS_H
#define SNAG_WEB_EXECUTION_POINTS_H

#include "live/live_trees.h"
#include "web/live_state.h"

/*
 * execution_points_step -- for live_trees_add; ctx is a struct live_state, whose own sink comes
 * behind that of the trees. O(executions of the step).
 */
void execution_points_step(void *ctx, const struct live_tree_step *step);

#endif
