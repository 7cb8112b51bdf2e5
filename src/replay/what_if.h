/*
 * what_if -- a run, ready to be played again without some of its time.
 *
 *     what_if_init(&w, &columns, &defs);
 *     what_if_cut(&w, &why, t, excess);        any number of executions
 *     replay_run(&w.replay, &result);          or replay_whole
 *     what_if_release(&w);
 */
#ifndef SNAG_REPLAY_WHAT_IF_H
#define SNAG_REPLAY_WHAT_IF_H

#include "explain/trace_view.h"
#include "forest/forest.h"
#include "replay/replay.h"
#include "run/columns.h"
#include "trace/definitions.h"

struct what_if {
    struct trace_view view;
    struct syncs syncs;
    struct replay replay;
};

/*
 * what_if_init -- find what waits for what in a run.
 *   defs  regions and locations as in the columns; both must stay
 * Returns 0, ERR_FORMAT as columns_check, or ERR_RANGE. Release in any case. O(calls).
 */
int what_if_init(struct what_if *w, const struct columns *columns,
                 const struct definitions *defs);
void what_if_release(struct what_if *w);

/*
 * what_if_fork -- the same run, of which something else can be cut by another thread.
 *   w  stays, and is not played again meanwhile
 * O(syncs / 512).
 */
void what_if_fork(const struct what_if *w, struct what_if *fork);
void what_if_fork_release(struct what_if *fork);

/*
 * what_if_cut -- take the excess of its calls out of tree t, see replay_cut.
 *   excess_ns  (vertices of t) as excess_lost has it
 * Returns what is cut, in ns. O(vertices of t * log).
 */
int64_t what_if_cut(struct what_if *w, const struct forest *forest, uint32_t t,
                    const double *excess_ns);

/*
 * what_if_cut_teams -- the same of the teams of threads that were made in it: where it waited
 * longer in their barriers, the others come to these as they usually do.
 * For what executions lost, not for what is usual: that they came earlier is not put in.
 */
int64_t what_if_cut_teams(struct what_if *w, const struct forest *forest, uint32_t t,
                          const double *excess_ns);

/*
 * what_if_off -- vertex v of tree t began and ended earlier or later than the estimates say.
 *   way  1: what it may be too short by is taken out of the run, too, as it is with it;
 *        -1: what it may be too long by stays there; 0: neither
 * Returns by how much it may be off. O(log).
 */
int64_t what_if_off(struct what_if *w, const struct forest *forest, uint32_t t, uint32_t v,
                    int way);

#endif
