/* points -- moments of a location that become its syncs, in the order of time. */
#ifndef SNAG_REPLAY_POINTS_H
#define SNAG_REPLAY_POINTS_H

#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>

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
    mem_grow(&p->point, &p->cap, p->n + 1, sizeof *p->point);
    p->point[p->n++] = point;
}

#endif
