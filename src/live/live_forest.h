/*
 * live_forest -- the executions of one function of interest while the program runs, a step at a
 * time.
 *
 * Every outermost call of the function that is finished in a step is a tree of the step's
 * forest: the same vertices, times and messages that forest_add finds in the finished trace,
 * wherever steps have cut it. What was called in earlier steps below an execution that is still
 * open is kept beside until its root is left:
 *
 *     step 1   rows   main solve send wait       solve is open: solve, send, wait are kept
 *     step 2   rows   main solve send | solve    the first is finished: 4 vertices, a tree; the
 *                                                second is open and has one so far
 *
 * An execution keeps its first `most_calls` calls, and all that are open together no more than
 * `most_open`; what is beyond is counted, and the tree says so. So memory is bounded by the
 * step and the open executions.
 */
#ifndef SNAG_LIVE_LIVE_FOREST_H
#define SNAG_LIVE_LIVE_FOREST_H

#include "forest/forest.h"
#include "stack/callstack.h"

#include <stddef.h>
#include <stdint.h>

#define LIVE_FOREST_MAX_CALLS 4000000u /* of one execution */
#define LIVE_FOREST_MAX_OPEN 32000000u /* kept of all that are open, 24 bytes each */

struct open_tree;
struct tracer_rows;

/* An execution that had not ended when the events of its location did. */
struct live_unended {
    uint32_t location, index;
    uint64_t enter_ns, last_ns; /* last_ns: the last event of the location */
};

#define LIVE_MAX_UNENDED 1024u /* that are kept; there are few, or all were ended by force */

struct live_forest {
    uint32_t region; /* the function of interest */
    uint32_t most_calls;
    size_t most_open;

    /* Finished in this step, in the order of locations and, within one, of time. */
    struct forest forest;      /* call: the id of the root, its row after the run */
    uint64_t *vertex_enter_ns; /* [forest.n] */
    uint64_t *n_calls;         /* [n_trees] all below the root and itself; more than the tree's
                                  rows where it was cut */
    struct message *message;   /* [n_messages] tree by tree; call: vertex of the forest */
    size_t *first_message;     /* [n_trees + 1] into message */
    size_t n_messages;         /* kept; forest.n_messages counts those of cut calls too */

    /* Of the run so far. */
    struct live_unended *unended; /* [n_unended] */
    uint32_t n_unended;
    uint64_t last_ns; /* of any event of a location that was added */

    /* Its own. */
    struct open_tree *open; /* [n_locations] */
    uint32_t n_locations;
    struct tracer_rows *apart; /* [n_apart] of the execution that is looked at */
    uint32_t n_apart;
    size_t apart_cap;
    size_t location_cap, enter_cap, calls_cap, message_cap, first_cap, unended_cap;
    size_t n_open; /* vertices kept of open executions */
};

void live_forest_init(struct live_forest *lf, uint32_t region);
void live_forest_release(struct live_forest *lf);

/* live_forest_clear -- a new step: forget what was finished in the last one. */
void live_forest_clear(struct live_forest *lf);

/* live_forest_count_from -- the number of the first execution of a location; before any of it
 * is added. */
void live_forest_count_from(struct live_forest *lf, uint32_t location, uint32_t first);

/*
 * live_forest_add -- the executions of one location, once per step, in the order of locations.
 * An execution that is cut (callstack_cut) is none, but keeps its number; one that had not
 * ended when the events of its location did has 1 as its forest.open_ns.
 *   calls  of the step; those of all steps must come here from the first call of the function
 *   defs   as for forest_add
 * O(rows of the step), whatever is open.
 */
void live_forest_add(struct live_forest *lf, uint32_t location, const struct calls *calls,
                     const struct definitions *defs);

/* live_forest_oldest_ns -- when the oldest execution that is open began; UINT64_MAX: none is.
 * O(locations). */
uint64_t live_forest_oldest_ns(const struct live_forest *lf);

/* live_forest_is_cut -- whether tree t has calls that were not kept. */
static inline bool live_forest_is_cut(const struct live_forest *lf, uint32_t t)
{
    return lf->n_calls[t] > forest_n_rows(&lf->forest, t);
}

#endif
