/*
 * sync_order -- whether the clocks of ranks agree on collectives, while the program runs:
 * nobody leaves one before those whom it waits for have come (forest/clock.h asks the same
 * after the run).
 *
 *     rank 0   [Barrier]                 left at 20
 *     rank 1               [Barrier]     came at 30: one of the two clocks is off
 *
 * Of each collective that members are missing of, who came last and who left first is kept.
 */
#ifndef SNAG_LIVE_SYNC_ORDER_H
#define SNAG_LIVE_SYNC_ORDER_H

#include "base/idmap.h"
#include "trace/definitions.h"
#include "trace/event.h"

#include <stdbool.h>

#define SYNC_ORDER_MAX_PENDING                                                                 \
    65536u /* that members are missing of; then those are forgotten */

struct sync_order {
    struct idmap id;        /* key_pair(communicator, order) */
    struct known_parts *of; /* [id.n] */
    size_t cap;
    uint32_t n_left; /* when those that are whole were forgotten last */
};

void sync_order_release(struct sync_order *order);

/*
 * sync_order_add -- one more part of a collective.
 *   comm  its communicator, that other ranks are in, too
 *   rank  whose part it is
 * Returns whether it contradicts another part. O(1).
 */
bool sync_order_add(struct sync_order *order, const struct collective *part,
                    const struct comm *comm, uint32_t rank);

/* sync_order_forget -- those that are whole. O(1) per part that was added. */
void sync_order_forget(struct sync_order *order);

#endif
