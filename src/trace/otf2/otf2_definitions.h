/*
 * otf2_definitions -- the global definitions of an OTF2 archive, and from ticks of its clocks
 * to nanoseconds since its start.
 *
 * Definitions come in any order, refer to what is defined later, and some tracers write them
 * twice or with the same id for two things. So they are collected first, as they are, and
 * resolved when all have been seen.
 *
 * ns = (ticks + offset(ticks) - origin) * 1e9 / ticks_per_s, exact to the nanosecond for any
 * frequency. The offset is what a tracer measured between this location's clock and the global
 * one, at some points in time: between two of them it is interpolated linearly, before the
 * first and after the last the nearest slope goes on.
 */
#ifndef SNAG_TRACE_OTF2_DEFINITIONS_H
#define SNAG_TRACE_OTF2_DEFINITIONS_H

#include "trace/event.h"
#include "trace/idtable.h"
#include "trace/source.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <otf2/otf2.h>

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

/* A value of a metric: a counter of ours, and what it counts in. */
struct otf2_member {
    uint32_t counter;
    bool is_scaled;
    double scale;
};

struct otf2_metric {
    uint32_t n;
    struct otf2_member *member; /* [n], of the definitions' arena */
};

#define OTF2_LEFT_OUT (IDMAP_NONE - 1) /* a region whose calls are not read: see left_out */

#define NO_ATTRIBUTE UINT32_MAX

/* Ids of OTF2, those of all locations or those of one, to: */
struct otf2_ids {
    struct idtable region;    /* index in definitions, or OTF2_LEFT_OUT */
    struct idtable comm;      /* index in definitions */
    struct idtable metric;    /* classes and instances, to metrics of the tables */
    struct idtable attribute; /* a name of definitions arguments */
    struct idtable parameter; /* likewise */
    struct idtable string;    /* text of the tables */
};

void otf2_ids_release(struct otf2_ids *ids);

/* otf2_ids_clear -- forget all, keep the memory. */
void otf2_ids_clear(struct otf2_ids *ids);

struct otf2_tables {
    struct otf2_ids id;
    uint32_t flush_region; /* what BUFFER_FLUSH records are calls of */
    uint32_t put_region,
        get_region; /* ... of GPUs RMA_PUT and RMA_GET; where there is none, nothing */
    uint32_t undefined_region;
    uint32_t earlier, later; /* attributes: by how much an event may be; or NO_ATTRIBUTE */
    uint32_t inlined;        /* likewise: as many calls a call may be */
    bool has_arguments;      /* attributes may be arguments of calls */
    const char **text;       /* of the definitions' arena, where some arguments are texts */
    struct otf2_metric *metric;
    size_t n_metrics, metric_cap;
};

/*
 * otf2_definitions_read -- read all global definitions of an open archive.
 *   dir      where the event files are, to find locations that damaged definitions do not name
 *   source   its definitions are filled in and finished, what was wrong is added to its quality
 *   tables   out: the archive's ids
 * Returns 0, or ERR_FORMAT if no definitions can be read at all.
 */
int otf2_definitions_read(OTF2_Reader *reader, const char *dir, struct source *source,
                          struct otf2_tables *tables);

void otf2_tables_release(struct otf2_tables *tables);

#endif
