/*
 * polls -- calls that ask whether something is there, and find that nothing is.
 *
 * Who waits by MPI_Test in a loop makes millions of them, which say no more than how long it
 * waited. Polls of one function that follow each other at once, or behind a nap, from the same
 * place on the stack and with nothing recorded in between, are one call, from the begin of the
 * first to the end of the last:
 *
 *     Test  Test  Test  Test                  MPI_Test        MPI_Test
 *     none  none  none  there      becomes    [none, 3 polls ][IRECV]
 *
 * The leave of a poll that found nothing is recorded as any other, and moved later by the next
 * such poll; to the begin of the next one if that finds something, which is a call of its own:
 * who reads the trace joins the two (CALLSTACK_POLLS_APART_NS), as no other thread may see a
 * record go.
 *
 * In a nap the thread gives its processor away. To know that takes two calls of the system for each
 * poll that comes later than at once, so a function behind which nobody naps is looked at seldom.
 */
#ifndef SNAG_TRACER_POLLS_H
#define SNAG_TRACER_POLLS_H

#include "recorder.h"

#include <sys/resource.h>
#include <time.h>

/*
 * Polls that are further apart, without a nap, are calls of their own: what the program does in
 * between may not be waiting. Less cannot be told from what the tracer does between two of them.
 */
#define POLLS_APART_NS 500

/* A thread napped if it gave its processor away of its own accord, and used it for less than half
 * of the time, or no longer than going to sleep and waking up take where that is dear; or hardly
 * used it at all. */
#define POLLS_NAP_NS 500000u
#define POLLS_WORK_NS 50000u

#define POLLS_MAX_DOUBTS 16u   /* in a row without a nap behind them; from then on */
#define POLLS_DOUBTS_ASKED 64u /* one in so many is looked at */

/* The kernel counts a thread's time in getrusage(2) by its ticks alone while that runs. */
static inline struct nap polls_look(uint64_t now_ns)
{
    struct rusage used;
    struct timespec t;

    getrusage(RUSAGE_THREAD, &used);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (struct nap){now_ns, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec,
                        (uint64_t)used.ru_nvcsw};
}

static inline uint32_t *polls_doubts(struct recorder *r, uint32_t region)
{
    return &r->n_doubts[region % RECORDER_POLLS];
}

/* The first poll of a function that may wait: what follows is looked at from here on. Not each
 * time where that was of no use. */
static inline void polls_look_from(struct recorder *r, uint32_t region, uint64_t now_ns)
{
    uint32_t *n_doubts = polls_doubts(r, region);

    r->nap.from_ns = 0;
    if (++*n_doubts < POLLS_MAX_DOUBTS || *n_doubts % POLLS_DOUBTS_ASKED == 0)
        r->nap = polls_look(now_ns);
}

/* Whether the thread slept since it was last looked at. */
static inline bool polls_napped(struct recorder *r, uint32_t region, uint64_t now_ns)
{
    struct nap before = r->nap;
    uint64_t used_ns;

    if (before.from_ns == 0)
        return false;
    r->nap = polls_look(now_ns);
    used_ns = r->nap.processor_ns - before.processor_ns;
    if (used_ns > POLLS_WORK_NS &&
        (r->nap.n_sleeps == before.n_sleeps ||
         (used_ns > POLLS_NAP_NS && used_ns > (now_ns - before.from_ns) / 2)))
        return false;
    *polls_doubts(r, region) = 0;
    return true;
}

/* polls_continue -- a call of this region begins: whether it may be part of the last one. */
static inline bool polls_continue(struct recorder *r, uint32_t region, uint64_t begin_ns)
{
    const union slot *leave = r->poll;

    return __builtin_expect(leave != NULL, 0) && leave + 1 == recorder_next(r) &&
           leave->head.id == region &&
           (begin_ns - leave->head.time_ns <= POLLS_APART_NS ||
            polls_napped(r, region, begin_ns)) &&
           atomic_load_explicit(&r->peeked, memory_order_relaxed) != leave + 1;
}

/* polls_leave -- leave a call that found nothing and is not part of the last one. */
static inline void polls_leave(struct recorder *r, uint32_t region, uint64_t end_ns)
{
    union slot *leave = recorder_next(r);

    recorder_leave(r, region, end_ns);
    r->poll = recorder_next(r) == leave + 1 ? leave : NULL;
    if (r->poll)
        polls_look_from(r, region, end_ns);
}

/* polls_until -- the last one goes on until then: one that would be part of it, and has found
 * something, begins. */
static inline void polls_until(struct recorder *r, uint64_t begin_ns)
{
    if (r->poll && r->poll + 1 == recorder_next(r))
        __atomic_store_n(&r->poll->head.time_ns, begin_ns, __ATOMIC_RELAXED);
}

/* polls_extend -- one that is part of the last one ends. What it called itself may have been
 * recorded in the meantime: then that is all there is of it. */
static inline void polls_extend(struct recorder *r, uint64_t end_ns)
{
    polls_until(r, end_ns);
    r->n_polls++;
}

#endif
