/*
 * unify -- what the ranks know, put together: the definitions of the whole archive.
 *
 * Each rank packs what it knows into a blob. Blobs are added one after the other; what was not
 * known before gets the next number, so adding more never changes numbers given out. Regions
 * are the same when their names are, communicators when their pairs are (communicators.h).
 */
#ifndef SNAG_TRACER_UNIFY_H
#define SNAG_TRACER_UNIFY_H

#include "blob.h"
#include "budget.h"
#include "communicators.h"
#include "regions.h"

#include <stdint.h>

struct location {
    uint32_t thread;
    uint64_t n_events;
    uint64_t first_ns, last_ns; /* on rank 0's clock */
    uint64_t cost_ns;           /* what recording took of it */
};

/* What one rank knows. */
struct knowledge {
    uint32_t rank;
    const char *host;
    int64_t realtime_ns; /* CLOCK_REALTIME less the clock of the trace */
    uint32_t n_locations, n_regions, n_communicators, n_left_out;
    const struct location *location;
    const struct region *region;
    const struct communicator *communicator;
    const struct left_out *left_out; /* on rank 0's clock */
    bool has_all_members; /* pack members also of communicators we are not the first of */
};

struct unified_rank {
    uint32_t rank;
    char *host;
    uint32_t n_locations, n_left_out;
    struct location *location;
    struct left_out *left_out; /* regions are numbers of the archive */
};

struct unified {
    uint32_t n_ranks, n_regions, n_communicators;
    struct unified_rank *rank; /* in the order they were added */
    struct region *region;
    struct communicator *communicator; /* parents are numbers of this table */
    uint64_t first_ns, last_ns;        /* of all events */
    int64_t realtime_ns;               /* of the rank that was added first */
    uint32_t *slot;                    /* regions by name: open addressing, n + 1 */
    size_t n_slots;
};

/* For each local number of a rank the number in the archive. Free the arrays. */
struct unified_map {
    uint32_t n_regions, n_communicators;
    uint32_t *region, *communicator;
};

/* unify_pack -- append what a rank knows to a blob. */
void unify_pack(struct blob *to, const struct knowledge *from);

/*
 * unify_add -- add the knowledge at the reading position of a blob.
 *   map  out: the rank's numbers; may be NULL. Free its arrays.
 * Returns false if the blob ends too early; u then is not to be used.
 */
bool unify_add(struct unified *u, struct blob *from, struct unified_map *map);

/* unified_release -- free everything; empty again. */
void unified_release(struct unified *u);

#endif
