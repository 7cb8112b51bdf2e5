/*
 * team_syncs -- where the threads of a process wait for each other.
 *
 *     thread 0   [fork]==calc==[barrier...]===[end][..join]
 *                     \                     /
 *     thread 1   [....begin]==calc=[barrier..]==[end]
 *
 *     the begin of what a member does      needs the fork
 *     the k-th barriers of all members     need each other, if nobody left before all were
 *                                          there
 *     the join                             needs the ends of the other members, if they came
 *                                          before it
 *     a created thread                     needs its creation; who waited for it, its end
 *
 * A member that has fewer barriers than others came to the next one where its last span in the
 * team ends. A thread that is no member waits: what lies between two spans is no work, unless
 * it has calls there.
 */
#ifndef SNAG_REPLAY_TEAM_SYNCS_H
#define SNAG_REPLAY_TEAM_SYNCS_H

#include "base/mem.h"
#include "replay/syncs.h"

#include <stddef.h>
#include <stdint.h>

/* Moments of a location that become its syncs, in the order of time, are points. */
enum point_kind {
    POINT_SIGNAL, /* others may wait for it */
    POINT_WAIT,   /* what is before it may be waiting */
    POINT_END,    /* a signal: a thread has done its part, and may wait from then on */
    POINT_JOIN,   /* waits, if it has: for all others */
    POINT_IDLE,   /* ... for its next team */
    POINT_CALL,   /* waits, and the call is the sync though it is none of MPI */
};

/* A moment at which a record was written, or the operation of one began. */
struct point {
    uint64_t time_ns;
    uint64_t begin_ns; /* from when on it may be waited for; else time_ns */
    uint32_t *place;   /* where the number of its sync is to go */
    uint32_t call;     /* innermost call around it, or NO_CALL */
    enum point_kind kind;
};

struct points {
    struct point *point;
    size_t n, cap;
};

static inline void points_add(struct points *p, struct point point)
{
    *mem_push(&p->point, &p->n, &p->cap) = point;
}

struct record_syncs;

/*
 * team_syncs_collect -- the moments of a location that have to do with teams, in their order.
 *   begin_ns  when the trace began: before its first team a thread waits
 */
void team_syncs_collect(const struct trace_view *view, uint32_t location, uint64_t begin_ns,
                        struct record_syncs *at, struct points *p);

/* Who was in which team, and where the barriers of all are. */
struct team_syncs {
    const struct trace_view *view;
    const struct record_syncs *at;
    struct team_member {
        uint32_t team, location;
        uint32_t first, last; /* its spans, among all */
        uint32_t barrier;     /* the first of its barriers, among all */
        uint32_t n_barriers;
    } * member; /* [n_members] */
    uint32_t n_members;
    bool has_created;        /* there are threads that another one created */
    uint32_t *first_barrier; /* [spans + 1] of the team of a fork, of all barriers */
    uint64_t *first_leave;   /* [n_barriers] when the first left it, */
    uint64_t *last_enter;    /* ... and the last of those with a call came */
    uint32_t n_barriers;     /* each is of all members of a team */
};

/* team_syncs_init -- once the syncs are there. O(spans + barriers). */
void team_syncs_init(struct team_syncs *t, const struct syncs *s,
                     const struct record_syncs *at);
void team_syncs_release(struct team_syncs *t);

/* One who comes to a barrier: with a sync of its own, or where it ends. */
typedef void team_syncs_part(uint32_t barrier, uint32_t sync, bool is_call, void *ctx);

/* team_syncs_each_part -- calls fn for all of all barriers that were waited at. */
void team_syncs_each_part(const struct team_syncs *t, const struct syncs *s,
                          team_syncs_part *fn, void *ctx);

/* team_syncs_is_waited -- whether nobody left a barrier before all had come. */
static inline bool team_syncs_is_waited(const struct team_syncs *t, uint32_t barrier)
{
    return t->first_leave[barrier] >= t->last_enter[barrier];
}

/* team_syncs_each_need -- calls fn for who needs which other sync, beside barriers. */
void team_syncs_each_need(const struct team_syncs *t, const struct syncs *s,
                          void (*fn)(void *ctx, uint32_t who, uint32_t need), void *ctx);

#endif
