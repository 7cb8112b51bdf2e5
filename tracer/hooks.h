/*
 * hooks -- a function begins or ends, and says so itself: the hooks that it was compiled with,
 * or its interpreter.
 *
 * The clock is read last on the way in and first after the look-up on the way out, so that
 * most of what we cost is time of the caller, not of the function.
 */
#ifndef SNAG_TRACER_HOOKS_H
#define SNAG_TRACER_HOOKS_H

#include "budget.h"
#include "recorder.h"
#include "regions.h"

/* hooks_enter, hooks_leave -- between recorder_begin and recorder_end. */
static inline void hooks_enter(struct recorder *r, uint32_t region)
{
    if (budget_leaves_out(region))
        budget_enter(r, region);
    else if (region != REGION_FILTERED)
        recorder_enter(r, region, clock_ns());
}

static inline void hooks_leave(struct recorder *r, uint32_t region)
{
    if (region != REGION_FILTERED && !recorder_leave_unseen(r, region))
        recorder_leave(r, region, clock_ns());
}

#endif
