/*
 * horizon -- until when it matters that something was entered earlier or later than it was.
 *
 * A replay that began in the middle of a run may stop when all locations are ahead by the same
 * time, unless something is still needed that was entered before that, ahead by another time,
 * and that is waited for.
 */
#ifndef SNAG_REPLAY_HORIZON_H
#define SNAG_REPLAY_HORIZON_H

#include "replay/syncs.h"

struct horizon {
    uint32_t *last_use; /* [n] the last place at which a sync is needed; 0: it is not */
    uint64_t *slack_ns; /* [n] so much later it can be entered before anybody waits for it */
    uint32_t *reach; /* [n] the last place at which one is needed that is entered up to a place
                        and has less slack than long_ns */
    uint64_t long_ns;
};

/* horizon_init -- look at all that is needed. O(needs). */
void horizon_init(struct horizon *h, const struct syncs *s);
void horizon_release(struct horizon *h);

#endif
