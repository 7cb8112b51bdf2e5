/*
 * tracer_state -- what a traced process knows, in a file that it has mapped: so that nothing is
 * lost when it ends, in whatever way, and nothing has to be done then.
 *
 *     DIR/traces/LOCATION.evt       complete chunks of OTF2 events (tracer_otf2.h)
 *     DIR/traces.unfinished/RANK    this file:
 *
 *     | head | block | block | ...     each says where the next one is
 *
 *     location    of a thread: the records that are in no chunk yet, which calls are open, and
 *                 how far its event file goes
 *     chunk       of a thread: the chunk that is being filled
 *     open        of a thread: which calls are open, where there are more than it began with
 *     journal     definitions, one after the other
 *
 * Who reads it finds the process dead, at any instruction. So every number that says how much
 * of something is valid is stored last, in one store. What has to change together is in one of
 * two copies, of which `current` says which:
 *
 *     records in the thread's slots --> the chunk being filled --> the event file
 *              n_slots_before, next       commit: n_slots, n_bytes       commit: n_chunks
 *
 * A record counts as soon as `next` is behind it; that it is in a chunk counts with the commit,
 * which says how many slots are; those that are still in the thread's slots then are known to
 * be there twice, as n_slots_before says which they are.
 *
 * Memory is of the process's own byte order. For both ends; includes nothing else of ours.
 */
#ifndef SNAG_TRACE_TRACER_STATE_H
#define SNAG_TRACE_TRACER_STATE_H

#include "trace/tracer/tracer_record.h"

#include <stdatomic.h>
#include <stdint.h>

#define STATE_MAGIC "SNTSTAT\1" /* the last byte is the version */
#define STATE_DIRECTORY "traces.unfinished"
#define STATE_FINISHED "traces.finished" /* until it is removed */
#define STATE_UNREAD                                                                           \
    "traces.unread"             /* a STATE_DIRECTORY in which are files of another version */
#define STATE_RESERVE "reserve" /* room on the disk for what finishing writes */
#define STATE_HOST 256
#define STATE_OPEN_CALLS 224u /* that a location has room for at first */
#define STATE_ALIGNMENT 4096u /* of blocks */
#define STATE_UNKNOWN UINT64_MAX
#define STATE_FIRST_TEAM                                                                       \
    16384u /* teams of threads are numbered from here on, behind communicators */

/* How the process ended. */
enum state_ending {
    STATE_RUNS,      /* or was killed, or called _exit, or exec */
    STATE_FINALIZED, /* in MPI_Finalize */
    STATE_EXITED,    /* by exit, or out of main */
    STATE_ABORTED,   /* by MPI_Abort */
};

/* How far this process's clock is from rank 0's. */
struct state_offset {
    uint64_t time_ns;  /* of this clock, when it was measured */
    int64_t offset_ns; /* to be added to it */
    double error_ns;   /* at most */
};

#define STATE_OFFSETS 2 /* at the begin and at the end */

/* state_offset_apply -- a time of the process's clock as rank 0 would have read it, by the offsets
 * measured at the begin and at the end of the run; by the first alone where both are the same. */
static inline uint64_t state_offset_apply(uint64_t time_ns, const struct state_offset *begin,
                                          const struct state_offset *end)
{
    double slope = 0;

    if (end->time_ns > begin->time_ns)
        slope = (double)(end->offset_ns - begin->offset_ns) /
                (double)(end->time_ns - begin->time_ns);
    return time_ns + (uint64_t)begin->offset_ns +
           (uint64_t)(int64_t)(slope * (double)(int64_t)(time_ns - begin->time_ns));
}

struct state_head {
    char magic[8];
    uint64_t head_bytes, chunk_bytes;
    uint64_t job;        /* the same in all ranks, and in no other program's; 0: not known */
    int64_t realtime_ns; /* CLOCK_REALTIME less the clock of the trace */
    uint32_t rank, n_ranks;
    uint32_t is_mpi;
    int32_t pid;
    _Atomic uint32_t ending; /* enum state_ending; then: */
    _Atomic uint32_t n_offsets;
    _Atomic uint64_t end_ns; /* when */
    _Atomic uint32_t error;  /* errno, for which nothing more is recorded; 0; then: */
    _Atomic uint32_t lost_error;
    _Atomic uint64_t stopped_ns; /* since when */
    _Atomic uint64_t n_lost;     /* calls of threads that have no location, for lost_error */
    _Atomic uint64_t first_at;   /* where in the file the first block is */
    struct state_offset offset[STATE_OFFSETS];
    char host[STATE_HOST];
};

enum state_block_kind {
    STATE_LOCATION = 1,
    STATE_CHUNK,
    STATE_OPEN,
    STATE_JOURNAL,
};

#define STATE_BLOCK_MAGIC 0x4b4c4253u

struct state_block {
    uint32_t magic, kind;
    uint64_t bytes;           /* of all of it; a multiple of STATE_ALIGNMENT */
    uint32_t thread, unused;  /* whose it is, but a journal */
    _Atomic uint64_t next_at; /* where in the file the next one is; 0: there is none */
    _Atomic uint64_t n_bytes; /* of a journal's entries */
};

/* How far a thread's events are written. */
struct state_commit {
    uint64_t n_slots;            /* of the thread, that are in chunks */
    uint64_t n_events, n_chunks; /* in chunks; complete ones, that are in the file */
    uint64_t first_ns, last_ns;  /* of the events */
    uint64_t n_lost;             /* calls that are in none */
    uint32_t n_bytes;            /* of the chunk that is being filled; 0: there is none */
    uint32_t n_open;             /* calls whose enter is in chunks, that are open; */
    uint32_t n_lost_open;        /* in these, calls that are lost */
    uint32_t has_ended;          /* of what comes only the leaves of n_open are written */
};

/* A thread. Addresses are those of the process. */
struct state_location {
    struct state_block block;
    uint64_t first_slot;             /* where the slots are */
    _Atomic uint64_t next;           /* where the next record goes */
    _Atomic uint64_t n_slots_before; /* of the thread, that were in the slots before */
    struct state_commit commit[2];
    _Atomic uint32_t current;           /* the one that counts */
    _Atomic uint32_t error;             /* errno, for which it has ended; 0 */
    _Atomic uint64_t chunk_at, open_at; /* where in the file the blocks are; 0: there is none;
                                           STATE_UNKNOWN: what is open is not known */
    _Atomic uint64_t processor_ns, cost_ns, once_ns, n_polls;
    _Atomic uint64_t n_missed; /* calls that became no records; of these: */
    _Atomic uint64_t n_early;  /* there were too many before there was a place for them */
    struct entered_call open[STATE_OPEN_CALLS];
    uint64_t of_tracer[2]; /* what it has before the slots of a chunk */
    union slot slot[CHUNK_SLOTS];
};

/*
 * Definitions. An entry is its kind, its length, and so many bytes:
 *
 *     numbers, 8 bytes each   texts, each with a zero behind it   bytes
 *
 * and then zeros up to a multiple of 8. Those of a kind are numbered in the order they come in.
 */
enum journal_kind {
    JOURNAL_CODE = 1, /* a file that code is in; texts: its path, its build id ("": none) */
    JOURNAL_REGION,   /* role, paradigm, characters of the plain name, line, code (+ 1), address
                         in that; texts: name, source file */
    JOURNAL_COMMUNICATOR, /* first rank, number, parent, size; bytes: its members, as runs of
                             three uint32_t: the first, how far it is to the next, how many */
    JOURNAL_NAME,         /* of a communicator: its number; text */
    JOURNAL_OBJECT,       /* kind, communicator, number, file; bytes: as objects.h has them */
    JOURNAL_TEAM,         /* thread; bytes: one bit for each thread that is a member */
    JOURNAL_LEFT_OUT,     /* region, since when, calls since then (changes) */
    JOURNAL_ABOUT,        /* texts: key, value */
};

struct journal_entry {
    uint32_t kind, bytes;
    uint64_t number[];
};

#endif
