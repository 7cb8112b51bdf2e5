/*
 * team_barrier -- a barrier of a team of threads: who came last to it.
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

/* What a location has of a team: its first span, which has the barriers, and its last one. */
struct team_membership {
    const struct team_span *first, *last;
};

/* team_membership_of -- false: it was no member. O(log spans). */
bool team_membership_of(const struct trace_view *view, uint32_t team, uint32_t location,
                        struct team_membership *out);

/* team_barrier_row -- the call of a span's barrier of that number, or NO_CALL. */
uint32_t team_barrier_row(const struct call_view *calls, const struct team_span *span,
                          uint32_t number);

/* team_span_after -- the first span that begins after a call was entered. O(log spans). */
size_t team_span_after(const struct call_view *calls, uint32_t row);

#endif
