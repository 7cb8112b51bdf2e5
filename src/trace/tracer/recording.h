/*
 * recording -- what one process left behind (tracer_state.h), taken apart.
 *
 * It may have been killed at any instruction, its file may have been cut when it was copied,
 * and anybody may have written to it: nothing is believed but what its bytes can hold.
 */
#ifndef SNAG_TRACE_RECORDING_H
#define SNAG_TRACE_RECORDING_H

#include "base/arena.h"
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

#endif
