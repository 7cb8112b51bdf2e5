/*
 * team_use -- what the threads did in teams that were made in a call: who worked, who waited,
 * and who came last.
 */
#ifndef SNAG_EXPLAIN_TEAM_USE_H
#define SNAG_EXPLAIN_TEAM_USE_H

#include "explain/trace_view.h"

#include <stddef.h>
#include <stdint.h>

/* Of one thread, of the process that makes the call. */
struct team_use {
    uint32_t location;
    uint32_t n_teams;    /* it was a member of */
    uint32_t n_last;     /* of these, to whose last barrier it came after all others */
    uint64_t member_ns;  /* in these */
    uint64_t barrier_ns; /* of that, in calls of their barriers */
};

/*
 * team_use_of -- in the teams that a location made in call `row`.
 *   n_forks  out: how many these are
 *   n        out: threads that were in any
 * Returns the threads in the order of locations, to be freed; NULL if there was no team.
 * O(teams * threads * log spans).
 */
struct team_use *team_use_of(const struct trace_view *view, uint32_t location, uint32_t row,
                             uint32_t *n_forks, size_t *n);

#endif
