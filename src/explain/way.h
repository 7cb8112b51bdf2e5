/*
 * way -- in which way an execution is strange: what its sentence says first, without how much.
 *
 * Executions that are strange in the same way are one thing to people, whenever and on whatever
 * rank they are: "more calls of ev_tally", "solve > kernel takes longer". A wait has no path of
 * its own, as it shows in whatever call of MPI comes next; so that is one way, too.
 */
#ifndef SNAG_EXPLAIN_WAY_H
#define SNAG_EXPLAIN_WAY_H

#include "explain/why.h"

#include <stdint.h>

enum way_kind {
    WAY_NONE, /* nothing is strange, or too few executions to say */
    WAY_LONGER,
    WAY_WAIT,    /* longer in calls of MPI */
    WAY_BARRIER, /* or at barriers of threads */
    WAY_SHORTER,
    WAY_LONGER_IN_ALL, /* but not on any path in particular */
    WAY_SHORTER_IN_ALL,
    WAY_MORE_CALLS,
    WAY_FEWER_CALLS,
    WAY_COMBINATION, /* of calls, in a call of this path */
    WAY_ORDER,
    WAY_OPEN
};

struct way {
    enum way_kind kind;
    uint32_t number; /* path, or region of WAY_*_CALLS; 0 where there is none */
};

#define WAY_SIZE (WHY_NAME_SIZE + 64)

/* way_of -- that of tree t. O(its vertices, and paths). */
struct way way_of(struct why *why, uint32_t t, const struct residual_measure *measure,
                  const struct why_verdict *verdict);

/* way_say -- in words; "" for WAY_NONE. Returns out. */
char *way_say(const struct why *why, struct way way, char out[WAY_SIZE]);

#endif
