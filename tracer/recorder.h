/*
 * recorder -- what happens in one thread, as a stream of small records in time order.
 *
 * This is the half of the tracer that runs inside the traced program, so it does as little as
 * it can: a record is one to three slots of 16 bytes (tracer_record.h) in a chunk of memory
 * that belongs to the thread. A full chunk is handed to the sink, which puts it into event
 * files (event_files.c), or to a ring that a thread behind the program's back sends from
 * (live.c), and knows nothing of where the records came from. That thread may also peek at a
 * chunk that is not full: `next` is stored after the record, and `generation` tells whether the
 * chunk is still the same. A sink whose chunk outlives the process is told `next` in there,
 * too.
 *
 * Invariants: the times of a stream never decrease; every leave closes the innermost open
 * call (a longjmp's missing leaves are put in); there is always room for one more record,
 * because a chunk is handed over right after the record that fills it. The pause that costs
 * is recorded as a flush, unless the sink is quick.
 *
 * Use is bracketed: recorder_begin() says whether to record at all and shuts out what the
 * tracer itself causes (hooks of instrumented code called from a hook, signal handlers).
 *
 * Whatever happens to the recording, the program goes on: where something cannot be had,
 * recorder_give_up ends it, and what is recorded after that is counted.
 */
#ifndef SNAG_TRACER_RECORDER_H
#define SNAG_TRACER_RECORDER_H

#include "trace/tracer/tracer_record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Of memory, or several. */
#ifdef __x86_64__
#define RECORDER_PAGE 4096
#else
#define RECORDER_PAGE 65536
#endif

struct chunk {
    struct chunk *next;
    uint32_t n; /* slots used */
    union slot slot[CHUNK_SLOTS];
};

/* No region at all: its calls are not recorded. */
#define REGION_FILTERED UINT32_MAX
/* A call whose region the stack has to say: region_of_call. */
#define REGION_CALLED_BY_MPI (UINT32_MAX - 1)

#define RECORDER_POLLS 16u

/* What polls.h looked at last: by the clock, and by what the kernel says of the thread. */
struct nap {
    uint64_t from_ns; /* 0: nothing */
    uint64_t processor_ns;
    uint64_t n_sleeps; /* times that it gave its processor away of its own accord */
};

struct recorder {
    union slot *_Atomic next;    /* where the next record goes; stored with release */
    union slot *limit;           /* from here on there is no room for the largest record */
    _Atomic uint64_t *next_told; /* `next` is stored there, too: next_lasting, or own_next */
    struct entered_call *open;   /* [n_open] the calls that were entered and not left */
    uint32_t n_open, cap_open;
    bool is_full;             /* no sink yet, and what may be kept without one is used up */
    atomic_uintptr_t busy_at; /* its thread is between recorder_begin and recorder_end, at this
                                 place of its stack; 0: it is not */
    atomic_bool is_lent; /* another thread hands over what is in it: recorder_hand_over_for */

    struct chunk *first, *last;  /* not handed over yet; next points into the last */
    struct chunk *_Atomic spare; /* for a signal handler, which cannot make one */
    uint32_t n_chunks;
    uint64_t flushed_ns; /* when chunks were last handed over */
    uint64_t placed_ns;  /* of the last record that is no enter and no leave */
    uint32_t thread;     /* 0 for the one that came first, the master; see recorder_prefer */
    uint64_t n_skipped;  /* calls not recorded as there were too many without a sink */
    uint64_t n_refused;  /* calls since recorder_give_up, and in signal handlers that came when
                            the thread was at work on its records */
    uint32_t n_recorded; /* of the open calls, that have a record, when chunks were handed over
                            last */
    atomic_bool has_begun; /* the sink was asked for memory that outlives the process; that: */
    _Atomic uint64_t
        *next_lasting; /* where it wants to know `next` of the first chunk; or NULL */
    _Atomic uint64_t own_next;
    atomic_uint generation; /* + 1 before chunks are handed over, and + 1 afterwards */
    uint32_t n_inside;      /* teams and constructs of OpenMP that the thread is in */
    uint32_t until_watched; /* calls of MPI until the next whose time is taken (budget.h) */
    struct recorder *older, *free;
    void *location;               /* of event_files.c, which owns it */
    struct ring *_Atomic ring;    /* of live output */
    struct stack *stack;          /* of stack.h, which owns it */
    struct budget *budget;        /* of budget.h, which owns it */
    struct openmp_thread *openmp; /* of openmp.c, which owns it */
    union slot *poll; /* of polls.h: the leave of a poll that found nothing, or NULL */
    struct nap nap;   /* likewise */
    uint32_t n_doubts[RECORDER_POLLS]; /* likewise, by function: polls in a row without a nap */
    uint64_t n_polls; /* calls that have no record, as they are part of the one before */
    const union slot *_Atomic peeked; /* live output has the records before this one */
};

/* Memory of a sink's that outlives the process, for a recorder. */
struct lasting {
    struct chunk *chunk;
    _Atomic uint64_t *next;
    struct entered_call *open; /* [n_open] */
    uint32_t n_open;
};

/*
 * Where chunks go.
 *   begin    for a new recorder: false if the sink has nothing that lasts for it. NULL: never
 *   deepen   more room for open calls that lasts, with those that are there; NULL if there is
 *            none
 *   take     n slots in which whole records lie one after the other; by the recorder's own
 *            thread, or by the one that stopped the recording
 *   emptied  after take: the chunk is empty, and counted (budget.h)
 */
struct sink {
    bool (*begin)(struct recorder *r, struct lasting *lasting);
    struct entered_call *(*deepen)(struct recorder *r, uint32_t n_open);
    void (*take)(struct recorder *r, const union slot *slot, size_t n);
    void (*emptied)(struct recorder *r);
    bool is_quick; /* takes no time worth a record */
};

extern _Thread_local struct recorder *recorder_self;

/* Whether anything is recorded, alone in a page that is zeros in a child, however it was
 * forked: a child shares our files with us. */
extern struct recorder_switch {
    atomic_bool is_on;
    char nothing[RECORDER_PAGE - 1];
} recorder_switch;

/* clock_ns -- CLOCK_MONOTONIC, the time of every record. */
static inline uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* recorder_wait -- recorder_begin where it is lent. */
struct recorder *recorder_wait(struct recorder *r);

/* recorder_begin_slowly -- recorder_begin for a thread's first event, and when re-entered, at a
 * place of the stack. */
struct recorder *recorder_begin_slowly(uintptr_t here);

/*
 * recorder_begin -- this thread's recorder, to be given back with recorder_end, or NULL when
 * nothing must be recorded: recording is off, or the tracer is at work further up the stack.
 * The store to busy_at needs no fence: recorder_stop makes up for it with membarrier(2).
 */
static inline uintptr_t recorder_here(void)
{
#ifdef __x86_64__
    uintptr_t here;

    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
    return here;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

static inline struct recorder *recorder_begin(void)
{
    struct recorder *r = recorder_self;

    if (__builtin_expect(r == NULL || atomic_load_explicit(&r->busy_at, memory_order_relaxed),
                         0))
        return recorder_begin_slowly(recorder_here());
    atomic_store_explicit(&r->busy_at, recorder_here(), memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&recorder_switch.is_on, memory_order_relaxed) &&
                             !atomic_load_explicit(&r->is_lent, memory_order_acquire),
                         1))
        return r;
    return recorder_wait(r);
}

static inline void recorder_end(struct recorder *r)
{
    atomic_store_explicit(&r->busy_at, 0, memory_order_release);
}

/* recorder_give_up -- nothing can be recorded any more in this process, for this errno: said
 * once. What is under way may go on. Takes no lock. recorder_tell_state -- there is a file now
 * in which that is to be said. */
void recorder_give_up(int error);
void recorder_tell_state(void);

/* recorder_missed -- a call begins, and recorder_begin was NULL: it is counted, but if it is
 * one that the tracer caused. */
void recorder_missed(void);

/* recorder_n_homeless -- so many calls of threads that have no recorder were missed. */
uint64_t recorder_n_homeless(void);

/* The rare cases of the two functions below. recorder_deepen returns false if there is no room,
 * and none to be had. */
void recorder_hand_over(struct recorder *r);
bool recorder_deepen(struct recorder *r);
void recorder_skip(struct recorder *r, uint32_t region);
void recorder_leave_slowly(struct recorder *r, uint32_t region, uint64_t time_ns);

/* recorder_close -- leave the innermost open calls until n_open are left. */
void recorder_close(struct recorder *r, uint32_t n_open, uint64_t time_ns);

/* recorder_next, recorder_move -- where the next record goes; the one there is complete. */
static inline union slot *recorder_next(const struct recorder *r)
{
    return atomic_load_explicit(&r->next, memory_order_relaxed);
}

static inline void recorder_move(struct recorder *r, union slot *next)
{
    atomic_store_explicit(&r->next, next, memory_order_release);
    atomic_store_explicit(r->next_told, (uintptr_t)next, memory_order_release);
    if (__builtin_expect(next >= r->limit, 0))
        recorder_hand_over(r);
}

static inline void recorder_put(struct recorder *r, enum record_kind kind, uint32_t id,
                                uint64_t time_ns)
{
    union slot *slot = recorder_next(r);

    slot->head.time_ns = time_ns;
    slot->head.kind = kind;
    slot->head.id = id;
    recorder_move(r, slot + 1);
}

/* recorder_time -- a time that was read a while ago, or the end of the flush there has been
 * since, so that times do not decrease. */
static inline uint64_t recorder_time(const struct recorder *r, uint64_t time_ns)
{
    return time_ns > r->flushed_ns ? time_ns : r->flushed_ns;
}

/* recorder_enter, recorder_leave -- a call begins or ends. Not for REGION_FILTERED. */
static inline void recorder_enter(struct recorder *r, uint32_t region, uint64_t time_ns)
{
    if (__builtin_expect(r->n_open == r->cap_open, 0) && !recorder_deepen(r))
        return;
    if (__builtin_expect(r->is_full, 0)) {
        recorder_skip(r, region);
        return;
    }
    r->open[r->n_open].region = region;
    r->open[r->n_open++].enter_ns = time_ns;
    recorder_put(r, RECORD_ENTER, region, time_ns);
}

static inline void recorder_leave(struct recorder *r, uint32_t region, uint64_t time_ns)
{
    if (__builtin_expect(r->n_open == 0 || r->open[r->n_open - 1].region != region, 0)) {
        recorder_leave_slowly(r, region, time_ns);
        return;
    }
    r->n_open--;
    recorder_put(r, RECORD_LEAVE, region, time_ns);
}

/*
 * recorder_enter_unseen, recorder_leave_unseen -- likewise, without a record. The latter
 * returns false if the innermost open call is another one, or has a record: recorder_leave ends
 * it.
 */
static inline void recorder_enter_unseen(struct recorder *r, uint32_t region)
{
    if (__builtin_expect(r->n_open == r->cap_open, 0) && !recorder_deepen(r))
        return;
    r->open[r->n_open++].region = region | REGION_SKIPPED;
}

static inline bool recorder_leave_unseen(struct recorder *r, uint32_t region)
{
    if (__builtin_expect(
            r->n_open == 0 || r->open[r->n_open - 1].region != (region | REGION_SKIPPED), 1))
        return false;
    r->n_open--;
    return true;
}

/*
 * recorder_enter_between, recorder_leave_between -- a call begins, or the innermost one ends,
 * at a time that is known to lie between two only.
 */
struct between {
    uint64_t time_ns, earliest_ns, latest_ns; /* time_ns: the estimate */
    uint64_t most_calls; /* of a function that is inlined: it may have been so many; else 0 */
};
void recorder_enter_between(struct recorder *r, uint32_t region, const struct between *when);
void recorder_leave_between(struct recorder *r, const struct between *when);

/*
 * record_message, record_request, record_collective_begin, record_collective_end,
 * record_icollective, record_access -- the other records. They bracket themselves; the time
 * must not be before that of the last record, but for a flush.
 */
struct message_record {
    uint32_t communicator, peer, tag;
    uint64_t bytes;
    uint64_t request; /* of RECORD_ISEND and RECORD_IRECV only */
};
struct collective_record {
    uint32_t communicator, operation, root;
    uint64_t sent_bytes, received_bytes;
    uint64_t request; /* of RECORD_ICOLLECTIVE only */
};
struct object_access {
    uint32_t object;    /* of objects.h: a window, a file or its handle */
    uint32_t peer, how; /* these, and the bytes, differ from kind to kind */
    uint64_t id;        /* of a transfer or operation */
    uint64_t bytes, received_bytes;
};
void record_message(enum record_kind kind, const struct message_record *m, uint64_t time_ns);
void record_request(enum record_kind kind, uint64_t request, uint64_t time_ns);
void record_collective_begin(uint64_t time_ns);
void record_collective_end(const struct collective_record *c, uint64_t time_ns);
void record_icollective(const struct collective_record *c, uint64_t time_ns);
void record_access(enum record_kind kind, const struct object_access *a, uint64_t time_ns);

/*
 * recorder_begin_signal -- as recorder_begin, in a signal handler: NULL also for a thread that
 * has none, and when whoever was interrupted, or another thread, is at work on it.
 */
struct recorder *recorder_begin_signal(void);

/* recorder_make_room -- in a signal handler: n slots of records can follow without any being
 * handed over. False if not. */
bool recorder_make_room(struct recorder *r, size_t n);

/*
 * recorder_hand_over_for -- for a thread that may be computing, and record nothing itself:
 * hand over what there is, if it is more than a chunk or no sink was asked yet for memory that
 * outlives the process, and see that there is a spare one. By a thread that records nothing.
 */
void recorder_hand_over_for(struct recorder *r);

/*
 * recorder_prefer -- before the calling thread's first event: which number it is to get, so
 * that it has the same in each run. Else, and where another thread has that, they are numbered
 * as they come.
 *   number      0: any
 *   n_reserved  numbers below are to stay free for others, who say so
 */
void recorder_prefer(uint32_t number, uint32_t n_reserved);

/* recorder_adopt -- give the calling thread a recorder now, though it has no event yet; NULL if
 * it is to have none. recorder_refuse -- it is to have none. */
struct recorder *recorder_adopt(void);
void recorder_refuse(void);

/* recorder_first -- tell the session that there are events, if nobody has. */
void recorder_first(void);

/* recorder_attach -- from now on chunks go to this sink; until then they are kept, up to
 * 16 MiB per thread. What there is is handed over, of threads that are at work now later. */
void recorder_attach(const struct sink *sink);

/*
 * recorder_stop -- no thread records any more when this returns. The calls that are open in
 * each thread are given a leave, and all is handed over if there is a sink; but for a thread
 * that is at work on its records and does not get on, and where recording had ended before.
 * Returns the newest recorder of the list linked by `older`. Only the first call does anything.
 */
struct recorder *recorder_stop(void);

/*
 * recorder_newest -- the list of recorders as it is now; it only grows, at its begin. For the
 * thread that sends; no recording waits for it.
 */
struct recorder *recorder_newest(void);

/*
 * recorder_fence -- all other threads are somewhere: whoever is not at work afterwards
 * reads the clock for its next record after this.
 */
void recorder_fence(void);

/* recorder_forget -- record nothing in this process, and hand over nothing (after a fork). */
void recorder_forget(void);

#endif
