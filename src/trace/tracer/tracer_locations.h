/*
 * tracer_locations -- what the tracer's processes have said, as events of locations that wait
 * to be handed out.
 *
 * A location is a thread of a rank. Its stack of open calls is kept, because every
 * frame says how the stack was at its begin: where the two differ, frames in between were
 * dropped, and leaves and enters are put in, so that whoever counts calls stays right.
 *
 *     known    main  step  force             leave force, step at the last event before the gap
 *     said     main  step' send              enter step', send when they really were entered
 *
 * Two calls of a function are the same if they were entered at the same time.
 */
#ifndef SNAG_TRACE_TRACER_LANES_H
#define SNAG_TRACE_TRACER_LANES_H

#include "base/idmap.h"
#include "trace/definitions.h"
#include "trace/event_list.h"
#include "trace/quality.h"
#include "trace/requests.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracer_call {
    uint32_t region;
    uint64_t enter_ns; /* on this machine's clock */
};

struct tracer_location {
    uint32_t rank;
    struct event_list waiting, spare;
    size_t at; /* first event of waiting that was not handed out */

    struct tracer_call *open; /* [n_open] the innermost last */
    size_t n_open, open_cap;
    uint64_t clock_ns; /* of the last record, on this machine's clock */
    uint64_t last_ns;  /* of the last event */

    struct requests requests;
    uint32_t n_messages, n_posted;
    uint32_t *n_collectives; /* [n_comms] of each communicator */
    size_t n_comms, comms_cap;
    uint64_t collective_ns;
    bool is_in_collective;
};

/* A process of a program. */
struct tracer_process {
    uint64_t job; /* that the ranks have agreed on; 0: not said */
    uint32_t rank, n_ranks, pid;
    uint64_t start_ns; /* when it was loaded, on its own clock */
};

/* All that is known of a program, whichever connection said it. */
struct tracer_run {
    struct definitions defs;
    struct quality *quality;
    struct tracer_location *location; /* [defs.n_locations] */
    size_t location_cap;
    struct idmap location_id;       /* (rank, thread) to location */
    struct idmap comm;              /* (first rank, number), see docs/wire.md, to comm */
    struct idmap rank;              /* those that ever were there, */
    struct tracer_process *process; /* [rank.n] and which processes they are */
    size_t process_cap;
    uint32_t n_expected; /* ranks that say they belong together */
    size_t n_members;    /* of all communicators */
    size_t n_text;       /* bytes of all names */
    bool is_begun;
    uint64_t origin_ns; /* time 0, on this machine's clock */
    size_t n_waiting;   /* events of all locations */
    uint64_t n_lost;
    struct accesses accesses; /* of all locations */
    bool wants_counters;
};

/* tracer_run_release -- a zeroed run is empty and ready; quality is the caller's. */
void tracer_run_release(struct tracer_run *run);

/*
 * tracer_run_is_of -- is a process one of this run of the program, there before or not yet? If
 * not it is of another program, or of the same one that was started again. Anybody is of an
 * empty run.
 */
bool tracer_run_is_of(const struct tracer_run *run, const struct tracer_process *process);

/* tracer_run_meet -- a process says hello. Returns false if it has done so before. */
bool tracer_run_meet(struct tracer_run *run, const struct tracer_process *process);

/* tracer_run_location -- the location of a thread, new if it was not known; NULL when there are
 * too many.
 */
struct tracer_location *tracer_run_location(struct tracer_run *run, uint32_t rank,
                                            uint32_t thread);

void tracer_location_enter(struct tracer_run *run, struct tracer_location *location,
                           uint64_t clock_ns, uint32_t region);

/* tracer_location_estimate -- the time of the enter of the innermost call, which was just said,
 * or of its leave, which comes next, is an estimate. False when none is open. */
bool tracer_location_estimate(struct tracer_run *run, struct tracer_location *location,
                              uint64_t clock_ns, bool is_leave, uint64_t off_ns);

/* tracer_location_leave -- the innermost call. Returns false when none is open. */
bool tracer_location_leave(struct tracer_run *run, struct tracer_location *location,
                           uint64_t clock_ns);

/* tracer_location_settle -- from now on these calls are open: leaves and enters that make it
 * so. */
void tracer_location_settle(struct tracer_run *run, struct tracer_location *location,
                            const struct tracer_call *open, size_t n_open);

/* What a message or a collective is about; comm is one of the definitions. */
struct tracer_message {
    uint32_t kind; /* enum message_kind */
    uint32_t comm, peer, tag;
    uint64_t bytes, request;
    bool has_request;
};
struct tracer_collective {
    uint32_t kind; /* enum collective_kind */
    uint32_t comm, root;
    uint64_t sent_bytes, received_bytes;
    uint64_t request;
    bool has_request; /* it does not block: tracer_location_starts said when it began */
};

/* tracer_location_message, ... -- the other records. False when they name a rank there is not.
 */
bool tracer_location_message(struct tracer_run *run, struct tracer_location *location,
                             uint64_t clock_ns, const struct tracer_message *message);
void tracer_location_post(struct tracer_run *run, struct tracer_location *location,
                          uint64_t clock_ns, uint64_t request);
void tracer_location_sent(struct tracer_run *run, struct tracer_location *location,
                          uint64_t clock_ns, uint64_t request);
void tracer_location_starts(struct tracer_run *run, struct tracer_location *location,
                            uint64_t clock_ns, uint64_t request);
void tracer_location_collective(struct tracer_run *run, struct tracer_location *location,
                                uint64_t clock_ns, const struct tracer_collective *collective);
void tracer_location_counter(struct tracer_run *run, struct tracer_location *location,
                             uint64_t clock_ns, uint32_t counter, int64_t value);

/* tracer_location_forget_requests -- their ends may have been dropped. */
void tracer_location_forget_requests(struct tracer_run *run, struct tracer_location *location);

/* tracer_location_trim -- forget what was handed out, once that is most of it. */
void tracer_location_trim(struct tracer_location *location);

#endif
