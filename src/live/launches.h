/*
 * launches -- which call on the processor started what runs on a GPU.
 *
 * Tracers give both the same number, the counter "Correlation ID". The activity is often
 * reported long after the launch, or before it, so the last launches are kept with their
 * callers: LAUNCHES_KEPT of them, and those that share a place in the table drive each other
 * out.
 */
#ifndef SNAG_LIVE_LAUNCHES_H
#define SNAG_LIVE_LAUNCHES_H

#include "live/history.h"

#include <stdint.h>

#define LAUNCHES_COUNTER "Correlation ID"
#define LAUNCHES_KEPT 16384u /* a power of two */
#define LAUNCHES_DEPTH 16u   /* callers that are kept of each */

struct launch {
    int64_t correlation;
    uint32_t group; /* process */
    uint32_t thread;
    uint32_t n_stack;                       /* 0: there is none here */
    struct prov_call stack[LAUNCHES_DEPTH]; /* the launch first */
};

struct launches {
    struct launch *launch; /* [LAUNCHES_KEPT] NULL until there is one */
};

void launches_release(struct launches *launches);

/* launches_add -- a call of this step, on a processor, with this number. */
void launches_add(struct launches *launches, const struct histories *h,
                  const struct ad_step *step, uint32_t location, uint32_t row,
                  int64_t correlation);

/* launches_find -- what started the activity with this number in a process, or NULL. */
const struct launch *launches_find(const struct launches *launches, uint32_t group,
                                   int64_t correlation);

#endif
