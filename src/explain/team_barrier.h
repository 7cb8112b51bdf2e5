/*
 * team_barrier -- a barrier of a team of threads: who came last to it; and what the threads did
 * in teams that were made in a call (team_use): who worked, who waited, and who came last.
 *
 * The k-th barriers of all members are one. A member that has fewer came to the next one where
 * its last span in the team ends: some tracers have no call of the barrier at the end of a
 * region but on the thread that forked.
 */
#ifndef SNAG_EXPLAIN_TEAM_BARRIER_H
#define SNAG_EXPLAIN_TEAM_BARRIER_H

#include "explain/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team_barrier {
    uint32_t team;   /* row of the fork among all spans */
    uint32_t number; /* of the barrier in the team */
};

/* team_barrier_of -- which one a call is. False: none of a team whose fork is known. O(log
 * spans), as long as few spans are inside each other. */
bool team_barrier_of(const struct trace_view *view, uint32_t location, uint32_t row,
                     struct team_barrier *out);

/* team_barrier_last -- the other member that came last, and when; NO_LOCATION: there is none.
 * O(threads * log spans). */
uint32_t team_barrier_last(const struct trace_view *view, const struct team_barrier *barrier,
                           uint32_t location, uint64_t *came_ns);

/* What a member did since it last was in step with the others. */
struct team_stretch {
    uint64_t from_ns; /* it left the barrier before, or began */
    uint16_t depth;   /* of what it calls as a member */
};

/* team_barrier_stretch -- before it came to the barrier. False: it is no member. */
bool team_barrier_stretch(const struct trace_view *view, const struct team_barrier *barrier,
                          uint32_t location, struct team_stretch *out);

/* team_barrier_before -- what a member did in the last team before that the same thread forked:
 * from_ns to to_ns. False: there is none. O(log spans). */
bool team_barrier_before(const struct trace_view *view, const struct team_barrier *barrier,
                         uint32_t location, uint64_t *from_ns, uint64_t *to_ns);

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
