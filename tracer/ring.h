/*
 * ring -- chunks of records on their way from the thread that made them to the one that sends.
 *
 * One thread puts, one takes, nobody waits. When the ring is full the chunk is dropped whole,
 * and the next one that fits says how many records are missing before it and which calls were
 * open where it begins.
 */
#ifndef SNAG_TRACER_RING_H
#define SNAG_TRACER_RING_H

#include "recorder.h"

struct ring_entry {
    unsigned generation; /* of the recorder while it filled the chunk */
    bool has_gap;        /* chunks are missing before it; then: */
    uint64_t n_lost;     /* records in them */
    struct entered_call *open;
    uint32_t n_open, cap_open;

    uint32_t n; /* slots used */
    union slot slot[CHUNK_SLOTS];
};

struct ring {
    atomic_size_t n_put, n_taken;
    size_t n_entries;
    struct ring_entry
        gap; /* what the next entry will say; the owner's, or whoever stopped it */
    struct ring_entry entry[];
};

/* ring_size -- entries of the rings that are made from now on. */
void ring_size(size_t n_entries);

/* ring_put -- the records of a chunk, into the recorder's ring, which is made when there is
 * none.
 */
void ring_put(struct recorder *r, const union slot *slot, size_t n);

/* ring_first -- the oldest entry, NULL if there is none; ring_drop -- it is done with. */
struct ring_entry *ring_first(struct ring *ring);
void ring_drop(struct ring *ring);

/* ring_fill_ratio -- how full it is, 0 to 1. */
double ring_fill_ratio(const struct ring *ring);

#endif
