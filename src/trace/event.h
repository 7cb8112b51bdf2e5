/*
 * event -- what a location of a trace reports, in time order: enter, leave, message,
 * collective, what it does in a team of threads, counter, argument.
 *
 * Enter and leave are nearly all there is, so an event is 16 bytes; messages and collectives
 * have their details in arrays beside, which `ref` indexes. A source hands over a batch at a
 * time; the batch belongs to the reader and lasts until the next one.
 */
#ifndef SNAG_TRACE_EVENT_H
#define SNAG_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind {
    EVENT_ENTER,   /* ref: region */
    EVENT_LEAVE,   /* ref: region, or ANY_REGION for whatever is on top */
    EVENT_MESSAGE, /* ref: index into struct event_batch message */
    EVENT_SENT, /* a non-blocking send completed; ref: number of the message on its location */
    EVENT_COLLECTIVE, /* a collective ended; ref: index into struct event_batch collective */
    EVENT_COUNTER,    /* ref: index into struct event_batch counter; only where asked for */
    EVENT_TEAM,       /* ref: index into struct event_batch team */
    EVENT_ESTIMATE,   /* ref: index into struct event_batch estimate */
    EVENT_ARGUMENT,   /* ref: index into struct event_batch argument; likewise */
};

#define ANY_REGION UINT32_MAX

struct event {
    uint64_t time_ns; /* since the start of the trace; may wrap below it, see monotone.h */
    uint32_t kind;    /* enum event_kind */
    uint32_t ref;
};

enum message_kind { MESSAGE_SEND, MESSAGE_RECV };

#define MESSAGE_UNMATCHED UINT64_MAX
#define NO_CALL UINT32_MAX /* outside any call */
#define NO_LOCATION UINT32_MAX

/*
 * One end of a message. A blocking send or receive has begin_ns == end_ns, the time of its
 * record; a non-blocking one spans from where it was posted to where it was completed.
 */
struct message {
    uint64_t begin_ns, end_ns;
    uint64_t bytes;
    uint64_t match; /* row of the other end among all messages, or MESSAGE_UNMATCHED */
    uint32_t call;  /* innermost call around the record, a row of its location, or NO_CALL */
    uint32_t peer;  /* rank of the process at the other end */
    uint32_t comm;  /* index into struct definitions comm */
    uint32_t tag;
    uint32_t order; /* number on its location, as posted: matching follows this */
    uint32_t kind;  /* enum message_kind */
};

/* message_record_ns -- when the record of a message was written. */
static inline uint64_t message_record_ns(const struct message *m)
{
    return m->kind == MESSAGE_SEND ? m->begin_ns : m->end_ns;
}

enum collective_kind {
    COLLECTIVE_BARRIER,    /* nobody leaves before everybody has entered */
    COLLECTIVE_ALL_TO_ALL, /* as a barrier, with data */
    COLLECTIVE_ONE_TO_ALL, /* nobody leaves before the root has entered */
    COLLECTIVE_ALL_TO_ONE, /* the root does not leave before everybody has entered */
    COLLECTIVE_OTHER,      /* no order follows: scan, create a communicator, ... */
};

#define NO_ROOT UINT32_MAX
#define NO_INSTANCE UINT32_MAX

struct collective {
    uint64_t begin_ns, end_ns;
    uint64_t sent_bytes, received_bytes;
    uint32_t call; /* as in struct message */
    uint32_t comm;
    uint32_t kind;     /* enum collective_kind */
    uint32_t root;     /* rank of the root process, or NO_ROOT */
    uint32_t order;    /* number of the collective, of this location on this communicator, as
                          they complete; after traffic_match as they were called */
    uint32_t instance; /* the same number for all who took part, or NO_INSTANCE */
};

/* A record about a team of threads, or about one that a thread created. */
enum team_record_kind {
    TEAM_FORK,  /* this thread makes a team ... */
    TEAM_JOIN,  /* ... and all of it are done */
    TEAM_BEGIN, /* this thread begins what it does as a member of a team */
    TEAM_END,
    TEAM_CREATE,       /* this thread creates another one */
    TEAM_THREAD_BEGIN, /* this thread was created */
    TEAM_THREAD_END,
    TEAM_WAIT, /* this thread has waited for the end of one that was created */
};

struct team_record {
    uint32_t kind;   /* enum team_record_kind */
    uint32_t comm;   /* index into struct definitions comm, or NO_TEAM_COMM */
    uint32_t number; /* threads asked for; of what is created: which it is of its comm */
};

#define NO_TEAM_COMM UINT32_MAX
#define NO_TEAM UINT32_MAX

/*
 * A stretch of a thread's time that has to do with a team. The forking thread is a member too.
 *
 *     thread 0   [fork [member  b ..... b]]       fork: until the join
 *     thread 1         [member ..b .... b]        b: a call of a barrier
 */
enum team_span_kind {
    SPAN_FORK,   /* from the fork to the join */
    SPAN_MEMBER, /* what a member of the team does; more than one where tasks came later */
    SPAN_CREATE, /* a thread is created; takes no time, as SPAN_WAIT */
    SPAN_THREAD, /* what the created thread does */
    SPAN_WAIT,   /* who waited for a created thread goes on */
    N_SPAN_KINDS
};

struct team_span {
    uint64_t begin_ns, end_ns;
    uint32_t call; /* innermost call around the record of its begin, or NO_CALL */
    uint32_t kind; /* enum team_span_kind */
    uint32_t team; /* its SPAN_FORK or SPAN_CREATE, a row among all spans, or NO_TEAM */
    uint32_t comm; /* as in struct team_record */
    uint32_t number;
    uint32_t n_members;                 /* of a fork: members that were found */
    uint32_t first_row, n_rows;         /* calls that the thread began in it */
    uint32_t first_barrier, n_barriers; /* among the barriers of its location, of a member */
};

enum dependency_kind {
    DEPENDENCY_END,    /* a call begins when the other has ended */
    DEPENDENCY_BEGIN,  /* ... has begun: what it launched */
    DEPENDENCY_RETURN, /* a call ends when the other has ended: it waits in there */
};

/*
 * A call that does not begin, or end, before another did, on a location of the same process:
 * streams of a GPU, and who launches what runs there. Calls are said by when they began.
 */
struct dependency {
    uint64_t begin_ns, on_begin_ns; /* of the one that waits; of the other */
    uint32_t location, on_location;
    uint32_t region, on_region; /* ANY_REGION: whatever call is innermost then */
    uint32_t kind;              /* enum dependency_kind */
    uint32_t unused;
};

/* What a counter read at the time of its event. */
struct counter_value {
    uint32_t counter; /* index into struct definitions counters */
    bool is_real;
    union {
        int64_t whole;
        double real;
    };
};

enum argument_kind {
    ARGUMENT_WHOLE,
    ARGUMENT_NATURAL,
    ARGUMENT_REAL,
    ARGUMENT_YES_NO,
    ARGUMENT_TEXT,
    N_ARGUMENT_KINDS
};

#define ARGUMENT_TEXT_BYTES 257u /* longest text, with its zero: what is longer is cut */

/*
 * What a call was called with, or says of itself. It comes where the call in question is the
 * innermost one: after its enter, before its leave.
 */
struct argument_value {
    uint32_t argument; /* index into struct definitions arguments */
    uint32_t kind;     /* enum argument_kind */
    union {
        int64_t whole;
        uint64_t natural;
        double real;
        const char *text; /* stays as long as the source is open */
    };
};

/* What is counted of a location, and no event. */
struct accesses {
    uint64_t n_transfers, transferred_bytes; /* of one-sided communication, both ways */
    uint64_t n_operations, operated_bytes;   /* on files; those that are complete */
};

static inline void accesses_add(struct accesses *to, const struct accesses *from)
{
    to->n_transfers += from->n_transfers;
    to->transferred_bytes += from->transferred_bytes;
    to->n_operations += from->n_operations;
    to->operated_bytes += from->operated_bytes;
}

/* accesses_transfer -- one more transfer; accesses_operation -- one more operation on a file: a
 * failed one may say that it moved all bits. */
static inline void accesses_transfer(struct accesses *a, uint64_t bytes)
{
    a->n_transfers++;
    a->transferred_bytes += bytes;
}

static inline void accesses_operation(struct accesses *a, uint64_t bytes)
{
    a->n_operations++;
    a->operated_bytes += bytes == UINT64_MAX ? 0 : bytes;
}

/* Where an estimate is in the time in which it may lie: of a gap between two things that are
 * known, at one of its ends, or in the middle, as nothing else is known (calls_place).
 */
enum estimate_side { ESTIMATE_EITHER, ESTIMATE_MIDDLE, ESTIMATE_EARLIEST, ESTIMATE_LATEST };

/*
 * The time of an enter or a leave is an estimate. It comes where the call in question is the
 * innermost one: after its enter, before its leave.
 */
struct time_estimate {
    uint32_t region;
    uint32_t is_leave;
    uint64_t off_ns; /* by which it may be off, earlier or later */
    enum estimate_side side;
};

/* Enters and leaves of a location that are estimates, by how far they may be off either way:
 * bin i has those of less than 2^((i + 1) / 4) ns, and not less than 2^(i / 4). */
#define ERROR_BOUND_BINS 256

struct error_bounds {
    uint64_t n_off[ERROR_BOUND_BINS];
    uint64_t n_joined, most_joined; /* calls that may be several; how many they may be */
};

struct event_batch {
    struct event *event; /* [n] in time order */
    size_t n, event_cap;
    struct message *message; /* call and end_ns are for the call stack to fill in */
    size_t n_messages, message_cap;
    struct collective *collective;
    size_t n_collectives, collective_cap;
    struct counter_value *counter;
    size_t n_counters, counter_cap;
    struct accesses accesses;         /* of the location so far */
    struct error_bounds error_bounds; /* likewise */
    struct team_record *team;
    size_t n_teams, team_cap;
    struct time_estimate *estimate;
    size_t n_estimates, estimate_cap;
    struct argument_value *argument;
    size_t n_arguments, argument_cap;
};

#endif
