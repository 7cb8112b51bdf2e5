/*
 * recording -- what one process left behind (tracer_state.h), taken apart; and what the
 * processes of a run know, put together: the definitions of the archive (unify).
 *
 * A process may have been killed at any instruction, its file may have been cut when it was
 * copied, and anybody may have written to it: nothing is believed but what its bytes can hold.
 *
 * Recordings are added one after the other; what was not known before gets the next number.
 * Regions are the same when their names are; communicators when their pairs are: the rank of
 * their first member in MPI_COMM_WORLD, and how many that one had named before. A window or a
 * handle is known in all its members by its communicator and how many were made in that
 * before; a file by its name, a group by its members. Teams of threads are communicators of a
 * rank.
 */
#ifndef SNAG_TRACE_RECORDING_H
#define SNAG_TRACE_RECORDING_H

#include "base/arena.h"
#include "base/idmap.h"
#include "base/names.h"
#include "trace/tracer/tracer_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded_code {
    const char *path, *build_id; /* "": it has none */
};

struct recorded_region {
    const char *name, *file; /* "": not known, or by the address */
    uint32_t role, paradigm;
    uint32_t n_plain; /* characters of the name without the place of a call; 0: all */
    uint32_t line;
    uint32_t code;    /* index + 1; 0: not known */
    uint64_t address; /* in that */
};

struct recorded_communicator {
    uint32_t first_rank, number; /* the pair that all members know it by */
    uint32_t parent, size;
    const uint32_t (*run)[3]; /* [n_runs] of members: the first, the distance, how many */
    size_t n_runs;
    const char *name; /* "": none */
};

struct recorded_object {
    uint32_t kind, communicator, number, file, n;
    const void *bytes; /* [n] */
};

struct recorded_team {
    uint32_t thread;
    const uint64_t *member; /* [n_words] bits */
    size_t n_words;
};

struct recorded_left_out {
    uint32_t region;
    uint64_t from_ns, n_calls;
};

struct recorded_text {
    const char *key, *value;
};

/* A thread. What is not in its file yet: */
struct recorded_location {
    const struct state_location *state;
    const struct state_commit *commit;
    const uint8_t *chunk; /* [commit->n_bytes] */
    const union slot *slot;
    size_t n_slots;
    const struct entered_call *open; /* [n_open] calls that are open, some of them skipped */
    size_t n_open;
};

struct recording {
    const struct state_head *head;
    bool is_cut; /* not all of it could be read */
    struct recorded_location *location;
    struct recorded_code *code;
    struct recorded_region *region;
    struct recorded_communicator *communicator;
    struct recorded_object *object;
    struct recorded_team *team;
    struct recorded_left_out *left_out;
    struct recorded_text *about;
    size_t n_locations, n_codes, n_regions, n_communicators, n_objects, n_teams, n_left_out,
        n_about;
    size_t cap_locations, cap_codes, cap_regions, cap_communicators, cap_objects, cap_teams,
        cap_left_out, cap_about;
    const char *data; /* [bytes] the file */
    size_t bytes;
};

/*
 * recording_open -- map the file of a process; there is nothing but its head then.
 * recording_read -- take all of it apart, which must not change any more: its process has
 * ended. Strings and bytes stay in the file.
 * Returns 0, ERR_IO, ERR_NOT_FOUND if the process had not begun yet, or ERR_FORMAT if it is
 * none of ours. Close in any case.
 */
int recording_open(struct recording *r, const char *path);
void recording_read(struct recording *r);
void recording_close(struct recording *r);

/* recording_time -- a time of the process as rank 0 would have read it, by what was measured at
 * the begin (recording_n_offsets is 1), and at the end, if it came to that (2). */
uint64_t recording_time(const struct state_head *head, uint64_t time_ns);
uint32_t recording_n_offsets(const struct state_head *head);

/* recording_is_alive -- whether the process that writes to it is still there, as far as can be
 * told. */
bool recording_is_alive(const struct recording *r, const char *path);

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
