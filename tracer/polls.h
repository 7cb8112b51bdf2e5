/*
 * polls -- calls that ask whether something is there, and find that nothing is.
 *
 * Who waits by MPI_Test in a loop makes millions of them, which say no more than how long it
 * waited. Polls of one function that follow each other at once, from the same place on the
 * stack and with nothing recorded in between, are one call, from the begin of the first to the
 * end of the last:
 *
 *     Test  Test  Test  Test                  MPI_Test         MPI_Test
 *     none  none  none  there      becomes    [none, 3 polls]  [IRECV]
 *
 * The leave of a poll that found nothing is recorded as any other, and moved later by the next
 * such poll. What finds something is a call of its own.
 */
#ifndef SNAG_TRACER_POLLS_H
#define SNAG_TRACER_POLLS_H

#include "recorder.h"

/*
 * Polls that are further apart are calls of their own: what the program does in between is not
 * waiting. Less cannot be told from what the tracer does between two of them.
 */
#define POLLS_APART_NS 500

/* polls_continue -- a call of this region begins: whether it may be part of the last one. */
static inline bool polls_continue(const struct recorder *r, uint32_t region, uint64_t begin_ns)
{
    const union slot *leave = r->poll;

    return __builtin_expect(leave != NULL, 0) && leave + 1 == recorder_next(r) &&
           leave->head.id == region && begin_ns - leave->head.time_ns <= POLLS_APART_NS &&
           atomic_load_explicit(&r->peeked, memory_order_relaxed) != leave + 1;
}

/* polls_leave -- leave a call that found nothing and is not part of the last one. */
static inline void polls_leave(struct recorder *r, uint32_t region, uint64_t end_ns)
{
    union slot *leave = recorder_next(r);

    recorder_leave(r, region, end_ns);
    r->poll = recorder_next(r) == leave + 1 ? leave : NULL;
}

/* polls_extend -- one that is part of the last one ends. What it called itself may have been
 * recorded in the meantime: then that is all there is of it. */
static inline void polls_extend(struct recorder *r, uint64_t end_ns)
{
    if (r->poll && r->poll + 1 == recorder_next(r))
        __atomic_store_n(&r->poll->head.time_ns, end_ns, __ATOMIC_RELAXED);
    r->n_polls++;
}

#endif
