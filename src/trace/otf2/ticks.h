/*
 * ticks -- from the ticks of a trace's clock to nanoseconds since its start.
 *
 * ns = (ticks + offset(ticks) - origin) * 1e9 / ticks_per_s, exact to the nanosecond for any
 * frequency. The offset is what a tracer measured between this location's clock and the global
 * one, at some points in time: between two of them it is interpolated linearly, before the
 * first and after the last the nearest slope goes on.
 */
#ifndef SNAG_TRACE_TICKS_H
#define SNAG_TRACE_TICKS_H

#include "trace/event.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tick_offset {
    uint64_t at;    /* local ticks */
    int64_t offset; /* to be added, ticks */
};

struct ticks {
    uint64_t origin;
    uint64_t whole;    /* nanoseconds per tick, */
    uint64_t fraction; /* and the rest times 2^64, rounded up */
    uint64_t most;     /* ticks since the origin that are a time at all; more are so many */

    struct tick_offset *offset; /* [n_offsets], increasing in time */
    size_t n_offsets, cap;

    /* The line through the two that the last time was between: time mostly goes forward. */
    size_t current;         /* from offset[current] to the next one */
    uint64_t begin, length; /* local ticks for which it is the right one */
    double slope;
};

/* ticks_init -- ticks_per_s 0 is taken as 1e9. */
void ticks_init(struct ticks *ticks, uint64_t ticks_per_s, uint64_t origin);
void ticks_release(struct ticks *ticks);

/* ticks_clear_offsets -- forget them, for the next location. */
void ticks_clear_offsets(struct ticks *ticks);

/* ticks_add_offset -- one more measurement. False if it is not after the last one. */
bool ticks_add_offset(struct ticks *ticks, uint64_t at, int64_t offset);

/* ticks_seek -- find the line for these local ticks. There must be an offset. */
void ticks_seek(struct ticks *ticks, uint64_t local);

/* ticks_corrected -- local ticks plus the offset at that time. There must be one. */
static inline uint64_t ticks_corrected(struct ticks *ticks, uint64_t local)
{
    const struct tick_offset *from;
    double distance;

    if (__builtin_expect(local - ticks->begin >= ticks->length, 0))
        ticks_seek(ticks, local);
    from = &ticks->offset[ticks->current];
    distance = (double)(int64_t)(local - from->at);
    return local + (uint64_t)from->offset + (uint64_t)llrint(ticks->slope * distance);
}

/* ticks_to_ns -- see above; times before the origin wrap around below 0. What is beyond any
 * time (monotone.h) comes out as an impossible one. */
static inline uint64_t ticks_to_ns(struct ticks *ticks, uint64_t local)
{
    uint64_t at = ticks->n_offsets ? ticks_corrected(ticks, local) : local;
    uint64_t since = at - ticks->origin;
    bool is_before = (int64_t)since < 0;
    uint64_t size = is_before ? -since : since, ns;

    size = size < ticks->most ? size : ticks->most;
    ns = size * ticks->whole;

    if (ticks->fraction)
        ns += (uint64_t)(((__uint128_t)size * ticks->fraction) >> 64);
    return is_before ? -ns : ns;
}

/* ticks_convert -- ticks_to_ns of the times of n events. */
void ticks_convert(struct ticks *ticks, struct event *event, size_t n);

#endif
