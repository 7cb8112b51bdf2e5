/*
 * budget -- what recording costs the program, and what is left out where that is too much.
 *
 * What a record costs is measured when the process records for the first time, how long chunks
 * take to be written each time. Of every few chunks one is looked at: how many records there
 * are of which region, and how long its calls are. With a limit, $SNAG_TRACER_OVERHEAD, each
 * thread has a balance: it grows by that share of the time in which the program itself runs,
 * and what records cost is taken off. When it is used up, the short function that was called
 * most often is left out from then on, in all threads, and so on until the others fit. Calls
 * of MPI are never left out, nor are functions so long that their own records cost less than
 * the limit.
 *
 *     enter f   enter g   leave g   enter g   leave g   leave f
 *                                   \__ g is left out: its calls are only counted
 *
 * Who is left out is still on the recorder's stack of open calls, so that leaves find their
 * enters: a call that was recorded when it began is recorded when it ends.
 */
#ifndef SNAG_TRACER_BUDGET_H
#define SNAG_TRACER_BUDGET_H

#include "recorder.h"

#define BUDGET_REGIONS (1u << 20) /* those beyond are never left out */

/* Of one region in one thread. */
struct tally {
    uint64_t n_calls;            /* seen since something was last decided; of these: */
    uint64_t n_timed, inside_ns; /* those that were short enough to be timed */
    uint64_t n_left_out;         /* of all the run */
};

struct budget {
    struct tally *of; /* [n] by region */
    uint32_t n, n_chunks;
    uint64_t settled_ns; /* when the balance was last made up */
    double cost_ns;      /* of all records of the run, but those left out */
    double due_ns;       /* the part of it that is not taken off the balance yet */
    double balance_ns;
    double own_ns, spent_ns; /* the program's time and ours, since something was decided */
    double n_records;        /* likewise */
};

extern _Atomic uint64_t budget_bits[BUDGET_REGIONS / 64]; /* by region: it is left out */

/* budget_leaves_out -- whether calls of this region are only counted. */
static inline bool budget_leaves_out(uint32_t region)
{
    return __builtin_expect(
        region < BUDGET_REGIONS &&
            (atomic_load_explicit(&budget_bits[region / 64], memory_order_relaxed) >>
                 region % 64 &
             1),
        0);
}

/* budget_new -- that of a new recorder. */
struct budget *budget_new(void);

/* budget_enter -- a call begins of a region that is left out. Its leave is as any other, but
 * that the time is not asked for: recorder_leave_unseen. */
void budget_enter(struct recorder *r, uint32_t region);

/* budget_count -- a chunk goes to the sink. */
void budget_count(struct recorder *r, const union slot *slot, size_t n);

/* budget_settle -- it took from begin_ns to end_ns to write what was counted; now it may be
 * decided what is left out. By the recorder's own thread. */
void budget_settle(struct recorder *r, uint64_t begin_ns, uint64_t end_ns);

/* budget_cost_ns -- what a thread's records have cost it so far. */
uint64_t budget_cost_ns(const struct recorder *r);

/* A function that was left out. */
struct left_out {
    uint32_t region;
    uint64_t from_ns, n_calls; /* since when, and how many calls have no records */
};

/* budget_list -- all that are left out. Free the array. When nothing is recorded any more. */
struct left_out *budget_list(const struct recorder *newest, uint32_t *n);

/* budget_trouble -- what is wrong with the variable, "" if nothing is. */
const char *budget_trouble(void);

#endif
