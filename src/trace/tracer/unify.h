/*
 * unify -- what the processes of a run know, put together: the definitions of the archive.
 *
 * Recordings are added one after the other; what was not known before gets the next number.
 * Regions are the same when their names are; communicators when their pairs are: the rank of
 * their first member in MPI_COMM_WORLD, and how many that one had named before. A window or a
 * handle is known in all its members by its communicator and how many were made in that before;
 * a file by its name, a group by its members. Teams of threads are communicators of a rank.
 */
#ifndef SNAG_TRACE_UNIFY_H
#define SNAG_TRACE_UNIFY_H

#include "base/idmap.h"
#include "base/names.h"
#include "trace/tracer/recording.h"

#define UNIFY_WORLD 0u
#define UNIFY_SELF 1u
#define UNIFY_NONE UINT32_MAX
#define UNIFY_TEAM 0x80000000u /* numbers of pairs from here on: teams of threads */
#define UNIFY_FIRST_GROUP 2u   /* those before list who takes part in MPI, and all threads */

struct unified_region {
    const struct recorded_region *as; /* of who had it first */
    const struct recorded_code *code; /* where it begins, with as->address; NULL: not known */
    const char *file;                 /* of its source; "": not known */
    uint32_t line;
};

struct unified_communicator {
    uint32_t first_rank, number, parent, group;
    uint32_t size; /* of a team: 0 */
    const uint32_t (*run)[3];
    size_t n_runs;
    const char *name;
    const struct recorded_team *team; /* NULL: it is of MPI */
};

struct unified_object {
    uint32_t kind, communicator, number, file; /* the latter are places */
    uint32_t place; /* its number in the archive, where only that of its kind counts */
    const void *bytes;
    uint32_t n;
};

struct unified {
    struct names region_name;
    struct unified_region *region; /* [region_name.n] */
    struct idmap pair;             /* of communicators, but those like MPI_COMM_SELF */
    struct unified_communicator *communicator;
    struct unified_object *object;
    size_t n_communicators, n_objects, cap_regions, cap_communicators, cap_objects;
    uint32_t n_of_kind[TRACER_OBJECTS];
    uint32_t n_groups; /* of communicators and objects, from UNIFY_FIRST_GROUP on */
    struct idmap object_key;
    uint32_t *of_pair, *of_key; /* [pair.n], [object_key.n] which it is */
    size_t cap_pairs, cap_keys;
};

/* For each number of a process that of the archive. */
struct unified_map {
    uint32_t *region, *communicator, *team, *object; /* [n] of the recording */
};

/*
 * unify_add -- add what a process knows.
 *   from  must outlive u
 *   map   out: its numbers; to be released
 */
void unify_add(struct unified *u, const struct recording *from, struct unified_map *map);

void unified_map_release(struct unified_map *map);

/* unified_release -- free everything; empty again. */
void unified_release(struct unified *u);

#endif
