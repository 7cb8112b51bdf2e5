/*
 * tracer_record -- what happens in a thread, as the tracer keeps it: records of one to three
 * slots of 16 bytes, in time order.
 *
 *     head           | time_ns        | kind   | id     |   id: region or communicator
 *     then, if any   | peer   | tag   | bytes           |   messages
 *                    | request        | -               |   non-blocking messages
 *                    | earliest_ns    | latest_ns       |   where the time is estimated
 *                    | peer   | how   | id              |   one-sided communication, files
 *                    | bytes          | received bytes  |
 *
 * For both ends: tracer/ at the root writes them, and turns most of them into events of OTF2
 * itself (tracer_otf2.h); those that it had no time for are left to snag (finish.h). Includes
 * nothing else of ours: the tracer is loaded into other people's programs.
 */
#ifndef SNAG_TRACE_TRACER_RECORD_H
#define SNAG_TRACE_TRACER_RECORD_H

#include "trace/tracer/tracer_numbers.h"

#include <stdbool.h>
#include <stdint.h>

/* As they are numbered on the wire; counters are put there by live output alone. */
enum record_kind {
    RECORD_ENTER = TRACER_RECORD_ENTER,
    RECORD_LEAVE = TRACER_RECORD_LEAVE,
    RECORD_SEND = TRACER_RECORD_SEND,
    RECORD_RECV = TRACER_RECORD_RECV,
    RECORD_ISEND = TRACER_RECORD_ISEND,
    RECORD_ISEND_COMPLETE = TRACER_RECORD_ISEND_COMPLETE,
    RECORD_IRECV_REQUEST = TRACER_RECORD_IRECV_REQUEST,
    RECORD_IRECV = TRACER_RECORD_IRECV,
    RECORD_CANCELLED = TRACER_RECORD_CANCELLED,
    RECORD_COLLECTIVE_BEGIN = TRACER_RECORD_COLLECTIVE_BEGIN,
    RECORD_COLLECTIVE_END = TRACER_RECORD_COLLECTIVE_END,
    RECORD_COUNTER = TRACER_RECORD_COUNTER,
    RECORD_ENTER_BETWEEN = TRACER_RECORD_ENTER_ESTIMATED,
    RECORD_LEAVE_BETWEEN = TRACER_RECORD_LEAVE_ESTIMATED,
    RECORD_ICOLLECTIVE = TRACER_RECORD_ICOLLECTIVE,
    RECORD_ICOLLECTIVE_REQUEST = TRACER_RECORD_ICOLLECTIVE_REQUEST,
    RECORD_WINDOW_CREATE =
        TRACER_RECORD_WINDOW_CREATE, /* of these tracer_otf2.c says what is in them */
    RECORD_WINDOW_DESTROY = TRACER_RECORD_WINDOW_DESTROY,
    RECORD_WINDOW_BEGIN = TRACER_RECORD_WINDOW_BEGIN,
    RECORD_WINDOW_END = TRACER_RECORD_WINDOW_END,
    RECORD_GROUP_SYNC = TRACER_RECORD_GROUP_SYNC,
    RECORD_MEMORY_SYNC = TRACER_RECORD_MEMORY_SYNC,
    RECORD_LOCK_REQUEST = TRACER_RECORD_LOCK_REQUEST,
    RECORD_LOCK_RELEASE = TRACER_RECORD_LOCK_RELEASE,
    RECORD_PUT = TRACER_RECORD_PUT,
    RECORD_GET = TRACER_RECORD_GET,
    RECORD_ATOMIC = TRACER_RECORD_ATOMIC,
    RECORD_TRANSFERRED = TRACER_RECORD_TRANSFERRED,
    RECORD_TRANSFERRED_REMOTE = TRACER_RECORD_TRANSFERRED_REMOTE,
    RECORD_FILE_OPEN = TRACER_RECORD_FILE_OPEN,
    RECORD_FILE_CLOSE = TRACER_RECORD_FILE_CLOSE,
    RECORD_FILE_DELETE = TRACER_RECORD_FILE_DELETE,
    RECORD_FILE_SEEK = TRACER_RECORD_FILE_SEEK,
    RECORD_IO_BEGIN = TRACER_RECORD_IO_BEGIN,
    RECORD_IO_ISSUED = TRACER_RECORD_IO_ISSUED,
    RECORD_IO_COMPLETE = TRACER_RECORD_IO_COMPLETE,
    RECORD_LEAVE_INLINED, /* from here on not on the wire, but as RECORD_LEAVE_BETWEEN */
    RECORD_FLUSH,
    RECORD_FORK, /* id: threads asked for; these are of openmp.h */
    RECORD_JOIN,
    RECORD_TEAM_BEGIN, /* id: the team's, among communicators */
    RECORD_TEAM_END,
    N_RECORD_KINDS
};

union slot {
    struct {
        uint64_t time_ns; /* CLOCK_MONOTONIC */
        uint32_t kind;    /* enum record_kind */
        uint32_t id;      /* local id of the region or communicator, else 0 */
    } head;
    struct {
        uint32_t peer, tag; /* peer: a rank of the communicator */
        uint64_t bytes;
    } message;
    struct {
        uint64_t id, unused;
    } request;
    struct {
        uint32_t operation, root; /* as OTF2_CollectiveOp and OTF2_CollectiveRoot */
        uint64_t sent_bytes;
    } collective;
    struct {
        uint64_t received_bytes, request; /* the latter of RECORD_ICOLLECTIVE */
    } collective_more;
    struct {
        uint64_t end_ns, unused;
    } flush;
    struct {
        uint64_t earliest_ns, latest_ns;
    } between;
    struct {
        uint64_t most_calls, unused;
    } inlined;
    struct {
        uint32_t peer, how;
        uint64_t id;
    } access;
    struct {
        uint64_t bytes, received_bytes;
    } access_more;
};

#define MAX_RECORD_SLOTS 3 /* slots */
#define CHUNK_SLOTS 1024

/* A call on the stack of open calls. */
struct entered_call {
    uint32_t region; /* with REGION_SKIPPED: it has no record */
    uint64_t enter_ns;
};

/* A call that has no record, on the stack of open calls: memory had run out when it was
 * entered, or its region is left out (budget.h of the tracer). */
#define REGION_SKIPPED (1u << 31)

extern const uint8_t record_slots_of[N_RECORD_KINDS];

/* record_slots -- how many slots a record of this kind has; 0 for a kind that there is not. */
static inline uint32_t record_slots(uint32_t kind)
{
    return kind < N_RECORD_KINDS ? record_slots_of[kind] : 0;
}

static inline bool record_is_enter(uint32_t kind)
{
    return kind == RECORD_ENTER || kind == RECORD_ENTER_BETWEEN;
}

static inline bool record_is_leave(uint32_t kind)
{
    return kind == RECORD_LEAVE || kind == RECORD_LEAVE_BETWEEN || kind == RECORD_LEAVE_INLINED;
}

#endif
