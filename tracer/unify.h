/*
 * unify -- what the ranks know, put together: the definitions of the whole archive.
 *
 * Each rank packs what it knows into a blob. Blobs are added one after the other; what was not
 * known before gets the next number, so adding more never changes numbers given out. Regions
 * are the same when their names are, communicators when their pairs are (communicators.h),
 * objects as objects.h says.
 */
#ifndef SNAG_TRACER_UNIFY_H
#define SNAG_TRACER_UNIFY_H

#include "blob.h"
#include "budget.h"
#include "communicators.h"
#include "objects.h"
#include "regions.h"

#include <stdint.h>

struct location {
    uint32_t thread;
    uint64_t n_events;
    uint64_t first_ns, last_ns; /* on rank 0's clock */
    uint64_t processor_ns;      /* that it had */
    uint64_t cost_ns;           /* what recording took of it */
    uint64_t once_ns;           /* of that, for what is done once a process */
    uint64_t n_polls;           /* without a record: polls.h */
};

/* What one rank knows. */
struct knowledge {
    uint32_t rank;
    const char *host;
    int64_t realtime_ns; /* CLOCK_REALTIME less the clock of the trace */
    uint32_t n_locations, n_regions, n_communicators, n_objects, n_left_out;
    const struct location *location;
    const struct region *region;
    const struct communicator *communicator;
    const struct object *object;
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

#define UNIFIED_FIRST_GROUP 2u /* those before list who takes part in MPI, and all threads */

struct unified {
    uint32_t n_ranks, n_regions, n_communicators, n_objects;
    struct unified_rank *rank; /* in the order they were added */
    struct region *region;
    struct communicator *communicator; /* parents are numbers of this table */
    struct object *object;             /* what they name are numbers in the archive */
    uint32_t n_of_kind[N_OBJECT_KINDS];
    uint32_t n_groups;           /* of communicators and objects, from UNIFIED_FIRST_GROUP on */
    uint64_t first_ns, last_ns;  /* of all events */
    int64_t realtime_ns;         /* of the rank that was added first */
    uint32_t *slot;              /* regions by name: open addressing, n + 1 */
    uint32_t *object_slot;       /* [n_object_slots] likewise of objects */
    uint32_t *communicator_slot; /* [n_communicator_slots] likewise of communicators */
    size_t n_object_slots, n_communicator_slots;
    size_t n_slots;
};

/* For each local number of a rank the number in the archive. */
struct unified_map {
    uint32_t n_regions, n_communicators, n_objects;
    uint32_t *region, *communicator, *object;
};

/* unify_pack -- append what a rank knows to a blob. */
void unify_pack(struct blob *to, const struct knowledge *from);

/*
 * unify_add -- add the knowledge at the reading position of a blob.
 *   map  out: the rank's numbers; may be NULL. To be released.
 * Returns false if the blob ends too early; u then is not to be used.
 */
bool unify_add(struct unified *u, struct blob *from, struct unified_map *map);

/* unified_map_release -- free its arrays. */
void unified_map_release(struct unified_map *map);

/* unified_release -- free everything; empty again. */
void unified_release(struct unified *u);

#endif
