/*
 * event -- what a location of a trace reports, in time order: enter, leave, message,
 * collective, counter.
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
    uint32_t order;    /* number of the collective, of this location on this communicator */
    uint32_t instance; /* the same number for all who took part, or NO_INSTANCE */
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

struct event_batch {
    struct event *event; /* [n] in time order */
    size_t n, event_cap;
    struct message *message; /* call and end_ns are for the call stack to fill in */
    size_t n_messages, message_cap;
    struct collective *collective;
    size_t n_collectives, collective_cap;
    struct counter_value *counter;
    size_t n_counters, counter_cap;
};

#endif
