/*
 * tau_decoder -- what TAU's ADIOS2 plugin leaves in a directory: a file or stream per program
 * and rank, tau-metrics-PROGRAM-RANK.bp, and for a stream its contact file, ....bp.sst
 * (tau_files); and from the rows of one of them to events of locations.
 *
 * A step brings messages and counters first, then the function events, each in time order.
 * They are merged per location by time; a message or counter that is stamped like an event
 * goes in front of it where that is a leave, after it where it is an enter:
 *
 *     events     enter 2296                 leave 2303
 *     messages                send 2302
 *     counters                                         4271      (the last event is at 2310)
 *
 * One that is stamped later than the last function event of its location is kept for the next
 * step: the call that it belongs to is there, and only there. It waits for one step, no
 * longer.
 *
 * A row that makes no sense is left out and counted, it never changes what comes after it.
 */
#ifndef SNAG_TRACE_TAU_DECODER_H
#define SNAG_TRACE_TAU_DECODER_H

#include "base/idmap.h"
#include "base/names.h"
#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/idtable.h"
#include "trace/quality.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAU_PREFIX "tau:" /* in front of a path: as in tau:DIR */

/* tau_files_path -- url without the prefix. */
const char *tau_files_path(const char *url);

/*
 * tau_files_is_one -- true when path is, by its name or what is in it, a file of ADIOS2, or the
 * name of a stream whose contact file is there.
 */
bool tau_files_is_one(const char *path);

/* tau_files_is_named_so -- true when the name says that it is one: *.bp, *.bp4 and so on. */
bool tau_files_is_named_so(const char *path);

/*
 * tau_files_find -- what there is at path: itself, or all that lie in that directory.
 *   found   names that were not there yet are added, in the order of the alphabet
 * Returns how many were added. A directory that does not exist has none.
 */
size_t tau_files_find(const char *path, struct names *found);

/*
 * tau_files_program -- PROGRAM in the name of a file; "" when the name is not made so.
 *   out  [n]
 */
void tau_files_program(const char *path, char *out, size_t n);

/* tau_files_patience -- seconds a reading process may say nothing: SNAG_PATIENCE, or 60. */
unsigned tau_files_patience(void);

#define TAU_TICKS_PER_S 1000000u

/* A message or counter on its way to its place among the events. */
struct tau_extra {
    uint64_t us;
    uint64_t value;  /* bytes of a message */
    uint64_t number; /* as they came: the order of those of one time */
    uint32_t what;   /* a counter, or NAMES_NONE for a message; then: */
    uint32_t peer, tag, kind;
};

/* A location of the file. */
struct tau_location {
    uint32_t program; /* as in tau_decoder.programs */
    uint32_t rank, thread;
    uint32_t defined; /* of the definitions, if the decoder makes them, or NO_LOCATION */
    struct event_batch batch; /* what was decoded; the caller empties it */
    bool is_gpu;
    uint32_t gpu_device, gpu_context, gpu_stream;

    struct tau_extra *extra; /* [n_extra], from next_extra on still to be placed; by time, */
    bool is_unsorted;        /* unless this says that it is yet to be sorted */
    size_t n_extra, next_extra, extra_cap;
    uint64_t n_extra_came;
    size_t n_old_extra;     /* those from steps before this one */
    uint64_t next_extra_us; /* UINT64_MAX when there is none */
    uint64_t last_us;       /* of the last function event */
    uint64_t n_events;      /* function events */
    uint32_t n_messages;
    uint64_t floor_ns; /* a caller's: time of the last event it has seen, see monotone.h */
    uint32_t n_leaps;  /* rows in sequence that were too far in the future */
};

struct tau_decoder {
    struct definitions *defs; /* shared by all files of a trace, as are: */
    struct names *programs;   /* "name of the file's program/number" */
    struct quality *quality;
    const char *file_program; /* from the name of the file, "" if it says none */
    bool makes_locations;     /* when they appear; otherwise the caller does it in the end */
    bool wants_counters;

    struct idmap location_id;
    struct tau_location *location; /* [location_id.n] */
    size_t location_cap;
    uint32_t last_location; /* of the row before */
    uint64_t last_key[3];   /* program, rank, thread of it */

    uint8_t event_type[32];                  /* enum of tau_decoder.c */
    bool has_types;                          /* some were said, or guessed */
    struct idtable timer;                    /* to regions */
    struct idtable counter;                  /* to names of definitions.counters */
    struct idtable program;                  /* to programs */
    struct idtable late_timer, late_counter; /* used before they had a name: enum in the .c */
    bool has_late_timer;
    uint64_t n_short; /* rows that could not be read, of all steps */
    uint64_t last_us; /* the last time of an event that was believed; 0: none has come */
};

/*
 * tau_decoder_init -- the first five members are set by the caller before; the rest is zeroed.
 */
void tau_decoder_init(struct tau_decoder *decoder);
void tau_decoder_release(struct tau_decoder *decoder);

/*
 * tau_decoder_block -- what a block of tau_step.h holds: to definitions and to the locations'
 * batches. A block of any other kind is ignored. O(rows).
 */
void tau_decoder_block(struct tau_decoder *decoder, uint32_t kind, const void *data,
                       size_t bytes);

/* tau_decoder_finish -- nothing more comes: what still waited is placed after all else. */
void tau_decoder_finish(struct tau_decoder *decoder);

#endif
