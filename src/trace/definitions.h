/*
 * definitions -- who and what a trace is about: regions, locations, communicators, the clock.
 *
 * A source fills this in when it opens a trace, in its own order and with its own ids, then
 * calls definitions_finish, which gives every location its rank and thread and sorts by them.
 * From then on everything refers to regions, locations and communicators by index.
 */
#ifndef SNAG_TRACE_DEFINITIONS_H
#define SNAG_TRACE_DEFINITIONS_H

#include "base/arena.h"
#include "base/names.h"
#include "trace/region_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NO_RANK UINT32_MAX
#define NO_COMM UINT32_MAX

struct region {
    const char *name;       /* canonical, unique */
    const char *short_name; /* what is shown; no other's */
    const char *brief;      /* the short name that others may have, too */
    const char *identity;   /* without what changes from build to build */
    const char *plain;      /* of MPI, without where it is called; else the name */
    const char *function;   /* of MPI, as its standard names it; else the name */
    enum region_kind kind;
    const char *file; /* of its source; NULL: not known, "": several regions have this name */
    uint32_t line;    /* in it, where it begins; 0 where that is not known */
    bool is_barrier;  /* all threads of a team wait in it for each other */
    bool is_sampled;  /* its calls were found on stacks: some of their times are estimates */
    bool is_step;     /* the trace itself numbers its calls as steps of the program */
    uint32_t held_up; /* of writes of the tracer: the region of those that something else made
                         last (held_up_tell); 0: none */
};

/* region_is_autograd_wait -- a call of ours (chrome/backward.h), which no OpenMP has. */
static inline bool region_is_autograd_wait(const struct region *region)
{
    return region->kind == REGION_OPENMP && strcmp(region->name, REGION_AUTOGRAD_WAIT) == 0;
}

/* region_word -- what calls are told apart by in another build, too; of places that MPI is
 * called from each is one. */
static inline const char *region_word(const struct region *region)
{
    return region->plain == region->name ? region->identity : region->name;
}

/* region_is_mpi -- a function of MPI by its standard's name, wherever it is called and whatever
 * the tracer added to that. */
static inline bool region_is_mpi(const struct region *region, const char *function)
{
    return region->kind == REGION_MPI && strcmp(region->function, function) == 0;
}

/* region_is_poll -- a function of MPI that asks whether something is there, and does not wait. */
bool region_is_poll(const struct region *region);

struct location {
    uint64_t id;      /* as the source names it */
    const char *name; /* "Master thread" */
    const char *node; /* where it ran: a name, "" when that is not known */
    uint64_t group;   /* the source's id of the process it belongs to */
    uint32_t rank;   /* of that process: MPI rank, or the order of groups where there is none */
    uint32_t thread; /* within the process, 0 is the master */
    uint64_t n_events_said;             /* events the definitions announce; 0 when not known */
    uint32_t program;                   /* of a workflow of several; 0 otherwise */
    uint64_t recorded_ns, processor_ns; /* from its first record to the last, and what of the
                                           processor it had; 0: unknown */
    uint64_t cost_ns;                   /* what recording took of the latter; 0: unknown */
    uint64_t once_ns;                   /* of that, for what is done once: its begin, its end */
    bool is_gpu;                        /* its calls run on a GPU; then: */
    uint32_t gpu_device, gpu_context, gpu_stream;
};

/* How the values of a counter are meant, as OTF2 tells it. */
enum counter_mode {
    COUNTER_UNKNOWN,
    COUNTER_ACCUMULATED, /* it grows: a difference says what happened in between */
    COUNTER_ABSOLUTE,    /* a temperature, a size, a rate */
    COUNTER_RELATIVE,    /* each value is what came on top of the one before */
    N_COUNTER_MODES
};

/* ... and what time a value is of. */
enum counter_span {
    COUNTER_AT_POINT,    /* of its moment alone */
    COUNTER_SINCE_START, /* from the start of the measurement until then */
    COUNTER_SINCE_LAST,  /* from the value before until then */
    COUNTER_UNTIL_NEXT,  /* from then until the next value */
    N_COUNTER_SPANS
};

struct counter {
    enum counter_mode mode;
    enum counter_span span;
    const char *unit; /* "" when it has none */
};

/* Something a process says of itself: its host, a library's version. */
struct metadata {
    uint32_t program, rank, thread; /* 0 where it is said of the whole run */
    const char *key, *value;
};

/* A region that the tracer stopped recording on a rank, as it was called too often. What was
 * recorded of it before is not read, on any rank, so that its callers look alike at all times.
 */
struct left_out {
    uint32_t region, rank;
    uint64_t from_ns, n_calls; /* since when, and how many calls there were of it since */
};

/* A communicator: who is rank r of it. An inter-communicator has a second side. */
struct comm {
    const char *name;
    uint32_t n_members;
    uint32_t *member; /* [n_members] rank of the process; several may share the array */
    uint32_t n_remote;
    const uint32_t *remote; /* [n_remote] the other side of an inter-communicator */
    const uint32_t *sorted; /* [n_members] of one: its members in ascending order */
    bool is_self;           /* MPI_COMM_SELF and its kin: one member, whoever asks */
    bool is_met;            /* orders number its meetings; else what each location calls */
};

/* Calls that rules took for ends of messages and members of collectives. */
struct linking {
    const char *from; /* where the rules are */
    uint64_t n_sends, n_receives, n_collectives, n_dependencies;
};

struct dependency;

struct definitions {
    struct names names; /* canonical region names; region i is name i */
    struct short_names shown;
    struct region *region;
    size_t region_cap;

    struct location *location; /* [n_locations], after finish sorted by (rank, thread) */
    uint32_t n_locations;
    size_t location_cap;
    uint32_t n_ranks; /* 1 + the highest rank */

    struct comm *comm; /* [n_comms] */
    uint32_t n_comms;
    size_t comm_cap;

    struct names counters;   /* struct counter_value counter is a name of these */
    struct counter *counter; /* [n_described] of the first ones; the others are unknown */
    uint32_t n_described;
    size_t counter_cap;
    struct names arguments; /* struct argument_value argument is a name of these */

    struct metadata *metadata; /* [n_metadata] */
    size_t n_metadata, metadata_cap;

    struct left_out *left_out; /* [n_left_out] */
    size_t n_left_out, left_out_cap;
    struct linking *linking; /* [n_linkings] */
    size_t n_linkings, linking_cap;
    struct dependency *dependency; /* [n_dependencies] what is known of the order of calls */
    size_t n_dependencies, dependency_cap;
    const char **note; /* [n_notes] what a person should know of how it was read: sentences */
    size_t n_notes, note_cap;

    uint64_t ticks_per_s;  /* of the trace's own clock; 0 when it counts nanoseconds already */
    uint64_t origin_ticks; /* where its time starts */
    bool has_wall_time;
    uint64_t wall_time_ns; /* since 1970, at the start of the trace */

    struct arena arena; /* names, members */
};

/* definitions_release -- free everything; empty and ready again. */
void definitions_release(struct definitions *defs);

/* definitions_region -- the index of the region with this name, new if it was not known. */
uint32_t definitions_region(struct definitions *defs, const char *name);

/* definitions_source -- say where the source of a region is. Where two have the same name it is
 * not known. The string is copied. */
void definitions_source(struct definitions *defs, uint32_t region, const char *file,
                        uint32_t line);

/* definitions_plain -- the region of the same function, wherever it is called. */
uint32_t definitions_plain(const struct definitions *defs, uint32_t region);

/* region_place -- " (solver.c:17)", or "" where that is not known or in the name ("!$omp for
 * @solver.c:17"). Returns out. */
#define REGION_PLACE_SIZE 80
char *region_place(const struct region *region, char out[REGION_PLACE_SIZE]);

/* region_source -- the same without space and brackets: "solver.c:17". */
char *region_source(const struct region *region, char out[REGION_PLACE_SIZE]);

/* definitions_location -- append a location; rank and thread are set by definitions_finish. */
struct location *definitions_location(struct definitions *defs, uint64_t id, const char *name,
                                      uint64_t group);

/* definitions_comm -- append a communicator of n members, for the caller to fill in. */
uint32_t definitions_comm(struct definitions *defs, const char *name, uint32_t n_members);

/* definitions_left_out -- append one. */
void definitions_left_out(struct definitions *defs, const struct left_out *left_out);

/* definitions_sorted -- (n) ranks in ascending order, in the definitions' memory. */
const uint32_t *definitions_sorted(struct definitions *defs, const uint32_t *rank, uint32_t n);

/*
 * definitions_counter -- the index of the counter with this name, new if it was not known. Of
 * two that have one name and are meant differently nothing is known.
 *   counter  its unit is copied
 * definitions_counter_of -- how one is meant.
 */
uint32_t definitions_counter(struct definitions *defs, const char *name,
                             const struct counter *counter);
struct counter definitions_counter_of(const struct definitions *defs, uint32_t counter);

/* counter_mode_name, counter_span_name -- "accumulated", "start". */
const char *counter_mode_name(enum counter_mode mode);
const char *counter_span_name(enum counter_span span);

/* definitions_metadata -- append one; strings are copied. */
void definitions_metadata(struct definitions *defs, const struct metadata *metadata);

/* definitions_linking -- the one of rules that are there, new if there was none. */
struct linking *definitions_linking(struct definitions *defs, const char *from);

/* definitions_dependency -- append one. */
void definitions_dependency(struct definitions *defs, const struct dependency *dependency);

/* definitions_note -- append one, printed. */
void definitions_note(struct definitions *defs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One process: the source's group id and the rank it has, if the source knows. */
struct process_rank {
    uint64_t group;
    uint32_t rank; /* NO_RANK: not known */
};

/*
 * definitions_finish -- give ranks and threads to locations and sort them.
 *   known    processes whose rank the source knows; those it does not name follow in the order
 *            of their group id
 * Threads are numbered within a process by location id. Cost O(n log n).
 */
void definitions_finish(struct definitions *defs, const struct process_rank *known,
                        size_t n_known);

/*
 * definitions_peer -- the rank of the process that is `peer` within `comm`, seen from `rank`.
 * Returns NO_RANK when there is no such member. O(1); of an inter-communicator O(log members).
 */
uint32_t definitions_peer(const struct definitions *defs, uint32_t comm, uint32_t rank,
                          uint32_t peer);

/* definitions_find_location -- the first location (the master) of a rank, or NO_LOCATION. */
uint32_t definitions_find_location(const struct definitions *defs, uint32_t rank);

#endif
