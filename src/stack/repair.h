/*
 * repair -- what a call stack does when enter and leave do not pair up.
 *
 * A leave can fail to match the call on top of the stack for three reasons, and only what comes
 * later tells which:
 *
 *  missing leave   The call it names lies deeper: those above it were never left. They become
 *                  *orphans*, ended here for the time being. When the location is complete, an
 *                  orphan is ended where its caller visibly went on: at the first call inside
 *                  it that other calls of the caller's function make and those of the
 *                  orphan's function never do. What came from there on is given to the caller.
 *
 *        the first leave of b lost          repaired
 *        a [ b [ x ]                        a [ b [ x ]
 *                b [ x ] ] leave a              b [ x ] ]
 *
 *  crossed leave   The calls above it were still running: their own leaves follow. What was
 *                  closed is opened again, and what came since is put back inside. The call
 *                  that was named has had its leave: it ends with the last of those that were
 *                  open then, at the end of the location or of the step.
 *
 *  missing enter   Nothing of that name is open or was closed so: the leave is skipped. Should
 *                  the call on top turn out to be an orphan, this was probably its leave with a
 *                  damaged name, and it ends here.
 */
#ifndef SNAG_STACK_REPAIR_H
#define SNAG_STACK_REPAIR_H

#include "stack/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call that is open, or that ended without a leave of its own. */
struct open_call {
    uint32_t row, region;
    uint32_t hint_row; /* rows from here on came after hint_ns; NO_CALL without a hint */
    bool is_left;      /* the hint is a leave that names it; only with a hint */
    uint64_t hint_ns;  /* it may have ended here */
};

/* open_call_was_left -- a leave that names it has come. */
static inline bool open_call_was_left(const struct open_call *call)
{
    return call->hint_row != NO_CALL && call->is_left;
}

struct repair {
    struct open_call *orphan; /* [n_orphans] in the order they were found */
    size_t n_orphans, orphan_cap;

    /* The calls closed by the last leave that named one below the top, which is ghost[0]; to be
     * opened again if their own leaves come. None when nothing is in doubt. */
    struct open_call *ghost;
    size_t n_ghosts, ghost_cap;
    uint32_t ghost_caller; /* row around ghost[0], or NO_CALL */
};

void repair_release(struct repair *repair);
void repair_clear(struct repair *repair);

/* repair_orphan -- note that an open call ended without a leave. */
void repair_orphan(struct repair *repair, const struct open_call *call);

/*
 * repair_doubt -- open[at .. n_open) are closed by a leave that names open[at], whose hint says
 * when. Settles what was in doubt before. Returns how many calls that shows to lack a leave.
 */
size_t repair_doubt(struct repair *repair, const struct open_call *open, size_t n_open,
                    size_t at);

/* repair_confirm -- what was closed in doubt stays closed. Returns how many of it lack a leave;
 * what was left before is an orphan, but lacks none. */
size_t repair_confirm(struct repair *repair);

/*
 * repair_can_reopen -- a leave of region comes while top_row (or NO_CALL) is on top: true when
 * it belongs to a call that was closed in doubt.
 */
bool repair_can_reopen(const struct repair *repair, uint32_t top_row, uint32_t region);

/*
 * repair_reopen -- put what was entered since the doubt inside its innermost call.
 * The n_ghosts calls of repair->ghost are open again; the caller pushes them and then clears
 * n_ghosts. O(rows since the doubt).
 */
void repair_reopen(struct repair *repair, struct calls *calls);

/* repair_settle -- end the orphans where their callers went on; the location is complete. */
void repair_settle(struct repair *repair, struct calls *calls);

#endif
