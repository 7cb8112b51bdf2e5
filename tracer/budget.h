/*
 * budget -- what recording costs the program, and what is left out where that is too much.
 *
 * What a record costs is measured when the process records for the first time, how long chunks
 * take to be written each time. Of every few chunks one is looked at: how many records there
 * are of which region, and how long its calls are. What else there is to do in calls of MPI is
 * timed in one of every few. With a limit, $SNAG_TRACER_OVERHEAD, each
 * thread has a balance: it grows by that share of the processor time that the program itself
 * has, and what recording costs is taken off. When it is used up, the short function that was
 * called most often is left out from then on, in all threads, and so on until the others fit.
 * Of MPI only functions that ask whether something is there, or flush a window, are ever left
 * out, and what they complete is recorded all the same, transfers of windows, with all that is
 * known of them, and collectives on communicators of one member: no other process has a part in
 * them, so each decides for itself. Nor are functions left out that are so long that their own
 * records cost less than the limit.
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
    uint64_t n_left_out, n_told; /* of all the run; what the journal knows of that */
};

/*
 * What the tracer does of a call of MPI besides its records (looks at the stack and at handles,
 * asks MPI, keeps transfers and requests in mind) is timed where it is done, in one call of
 * BUDGET_EVERY.
 *
 *     | call_begin ... hooks |  MPI  | hooks ... call_end |
 *     began_ns          asked_ns  returned_ns          ended
 */
#define BUDGET_EVERY 61 /* prime, as programs do the same things in turn */

struct watch {
    uint64_t began_ns, asked_ns;
    uint64_t n_unseen;      /* calls left out until then */
    const union slot *slot; /* where the call's records begin */
    unsigned generation;    /* of the recorder */
};

struct budget {
    struct tally *of; /* [n] by region */
    uint32_t n, n_chunks;
    uint64_t settled_ns; /* when the balance was last made up: processor time of the thread */
    uint64_t n_unseen, n_unseen_settled; /* calls left out; those that are in cost_ns */
    struct watch watch; /* of the call of MPI whose time is taken; began_ns 0: there is none */
    uint64_t n_dearer, n_dearer_settled; /* likewise: returns through marks (stack_marks.h), or
                                            calls that an interpreter tells (python.h) */
    uint64_t processor_ns;               /* that the location's threads had, until settled_ns */
    double cost_ns;                      /* of the run */
    double due_ns; /* the part of it that is not taken off the balance yet */
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

/* budget_has_limit -- whether anything may ever be left out. Once something was recorded. */
bool budget_has_limit(void);

/* budget_new -- that of a new recorder. */
struct budget *budget_new(void);

/* budget_left_out -- there was a call that has no record. */
void budget_left_out(struct recorder *r, uint32_t region);

/* budget_enter -- a call begins of a region that is left out. Its leave is as any other, but
 * that the time is not asked for: recorder_leave_unseen. */
void budget_enter(struct recorder *r, uint32_t region);

/* budget_has -- whether budget_enter of this region allocates nothing. */
bool budget_has(const struct recorder *r, uint32_t region);

/* budget_watch_begin, budget_watch_end -- a call whose time is taken begins, and ends; MPI was
 * asked at the watch's asked_ns, and returned at returned_ns.
 *   reads_clock  the time of its return is read when it is not watched, too */
void budget_watch_begin(struct recorder *r, uint64_t began_ns);
void budget_watch_end(struct recorder *r, uint64_t returned_ns, bool reads_clock);

/* budget_thread_ns -- the processor time of the calling thread. budget_once -- what it had from
 * begin_ns on was spent on what is done once for all the process. Thread-safe. */
uint64_t budget_thread_ns(void);
void budget_once(uint64_t begin_ns);

/* budget_count -- a chunk goes to the sink. */
void budget_count(struct recorder *r, const union slot *slot, size_t n);

/* budget_settle -- it took from begin_ns to end_ns of the thread's processor time to write what
 * was counted; now it may be decided what is left out. By the recorder's own thread. */
void budget_settle(struct recorder *r, uint64_t begin_ns, uint64_t end_ns);

/* budget_adopt -- the recorder is that of the calling thread from now on. */
void budget_adopt(struct recorder *r);

/* budget_cost_ns, budget_processor_ns -- what recording has cost a location so far, and what
 * processor time it had, that included. The first thread's has what was spent once, which is
 * budget_once_ns; that of the others is 0. */
uint64_t budget_once_ns(const struct recorder *r);
uint64_t budget_cost_ns(const struct recorder *r);
uint64_t budget_processor_ns(const struct recorder *r);

/* budget_end -- tell the journal of the state (state.h) all that was left out. When nothing is
 * recorded any more. */
void budget_end(const struct recorder *newest);

/* budget_trouble -- what is wrong with the variable, "" if nothing is. */
const char *budget_trouble(void);

#endif
