/*
 * what_if -- a run, ready to be replayed without some of its time.
 *
 *     what_if_init(&w, &columns, &defs);
 *     what_if_cut(&w, &why, t, excess);        any number of executions
 *     replay_run(&w.replay, &result);          or replay_whole
 *     what_if_release(&w);
 *
 * Of operations on streams: what it would have taken were all of a kind equally long (ideal).
 */
#ifndef SNAG_REPLAY_WHAT_IF_H
#define SNAG_REPLAY_WHAT_IF_H

#include "explain/trace_view.h"
#include "forest/forest.h"
#include "replay/replay.h"
#include "run/columns.h"
#include "trace/definitions.h"

/*
 * run_view_init -- look at a run; locations that are damaged take no part (trace_view_calls).
 *   defs  regions and locations as in the columns; both must stay. O(locations)
 */
void run_view_init(struct trace_view *view, const struct columns *columns,
                   const struct definitions *defs);

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
 *   w  stays, and is not replayed meanwhile
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
 * longer in their barriers, the others come to these as they typically do; where it waited
 * shorter, as all came earlier, whoever came last comes so much later.
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

/*
 * ideal -- what a run of operations on streams would have taken if every operation of a kind
 * took the same time, and which of them it is that makes it longer.
 *
 *     S    = T / T_ideal                       the slowdown of the run
 *     S_w  = T_ideal, but w as it was / T_ideal     of a worker, a stage, a kind of operation
 *
 * An operation that computes ideally takes the mean time of all of its function, on whatever
 * worker and in whatever step; one that exchanges something the median of what it took from
 * when the last of those in it had begun. Everything begins as soon as what it waits for has
 * ended: what else kept it (a slow launch) is in neither T.
 *
 * Source: Lin and others. Understanding Stragglers in Large Model Training Using What-if
 * Analysis. OSDI 2025, equations 1, 2 and 4. Departs from it: S_w is played for each worker,
 * not taken from its row and column; the steps are played one after another in one run.
 */

struct ideal_kind {
    uint32_t n;
    double typical_ns; /* of each operation */
    double sum_ns;     /* of all, as they were */
    bool is_exchange;
};

struct ideal {
    struct replay *replay; /* its cuts are the ideal's while it plays */
    uint32_t *ready;       /* [n] the sync where each operation is ready */
    uint32_t n;
    struct ideal_kind *kind; /* [regions] */
    double run_ns, ideal_ns; /* T, T_ideal */
};

/* ideal_init -- find what is typical, play T and T_ideal. Nothing may be cut. O(syncs). */
void ideal_init(struct ideal *ideal, struct replay *replay);
void ideal_release(struct ideal *ideal);

/* Whether an operation stays as it was. */
typedef bool ideal_keep(uint32_t location, uint32_t region, void *ctx);

/* ideal_slowdown -- S of those kept: the run with them as they were, all others ideal, against
 * T_ideal; NAN if there are no operations. O(syncs). */
double ideal_slowdown(struct ideal *ideal, ideal_keep *keep, void *ctx);

#endif
