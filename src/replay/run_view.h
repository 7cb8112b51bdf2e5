/* run_view -- the calls and messages of a run's columns, to be walked across. */
#ifndef SNAG_REPLAY_RUN_VIEW_H
#define SNAG_REPLAY_RUN_VIEW_H

#include "explain/trace_view.h"
#include "run/columns.h"

/*
 * run_view_init -- look at a run; locations that are damaged take no part (trace_view_calls).
 *   defs  regions and locations as in the columns; both must stay. O(locations)
 */
void run_view_init(struct trace_view *view, const struct columns *columns,
                   const struct definitions *defs);

#endif
