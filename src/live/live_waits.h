/*
 * live_waits -- how long the calls of executions waited for others that came late, while the
 * program runs: what score/scoring.c asks for, from the messages and collectives of the last
 * steps (sync_window.h).
 *
 *     live_waits_take(&w, step);                          in every step
 *     waits = live_waits_of(&w, step, &foi->trees);       for scorer_judge
 *     live_waits_why(&w, t);                              of what is not known
 *     live_waits_forget(&w, step, oldest_ns);
 *
 * It is said when it cannot change any more: the other ends of all messages of the call and of
 * the sends that it completes have been read, and all parts of its collectives. Then it is what
 * waiting_others_ns says after the run. Else it is not known, and why not is said:
 *
 *     step k     rank 0  [step .. [Recv ....]]        the send was read in this step or before
 *                rank 1  ... [Send] ...
 *     step k     rank 0  [step .. [Barrier ]]         rank 1 has not come out of it: not known
 *                rank 1  ...... [Barrier ....|
 *
 * Kept is what lies behind the begin of the oldest execution that is open, LIVE_WAITS_MAX_KEPT
 * of it at most.
 */
#ifndef SNAG_LIVE_LIVE_WAITS_H
#define SNAG_LIVE_LIVE_WAITS_H

#include "live/live_forest.h"
#include "live/sync_window.h"
#include "score/scoring.h"

#define LIVE_WAITS_MIN_KEPT 20000u   /* calls, messages and collectives, in any case */
#define LIVE_WAITS_MAX_KEPT 1000000u /* of some 60 bytes each */

struct live_waits {
    struct sync_window window;
    const struct ad_step *step; /* while executions of it are judged: */
    const struct live_forest *trees;
    const char **why; /* [trees->forest.n_trees] NULL: it is known, or not asked for */
    size_t why_cap;
};

void live_waits_init(struct live_waits *waits);
void live_waits_release(struct live_waits *waits);

/* live_waits_take -- a step is there. Costs as sync_window_take. */
void live_waits_take(struct live_waits *waits, const struct ad_step *step);

/*
 * live_waits_of -- of the executions that were finished in a step, which was taken.
 * What comes back is for one forest, and may be asked until the next step. O(log of what is
 * kept + records in the call) per call, times the locations for collectives.
 */
struct own_waits live_waits_of(struct live_waits *waits, const struct ad_step *step,
                               const struct live_forest *trees);

/* live_waits_why -- why it is not known how long execution t of them waited: a constant, to be
 * said after "because"; NULL: it is, or does not matter. */
const char *live_waits_why(const struct live_waits *waits, uint32_t t);

/*
 * live_waits_forget -- the step is over.
 *   oldest_ns  when the oldest execution that is open began; UINT64_MAX: there is none
 * O(locations), and of what is kept where there is much.
 */
void live_waits_forget(struct live_waits *waits, const struct ad_step *step,
                       uint64_t oldest_ns);

#endif
