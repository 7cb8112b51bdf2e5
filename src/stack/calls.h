/*
 * calls -- the calls of one location, as columns, its messages, collectives and counters: of
 * the whole trace, or of a step of one that is being written.
 *
 * Calls are in preorder: a call comes before all that happened inside it, and the calls inside
 * call i are the rows i+1 .. i+subtree_len[i]-1.
 *
 *     main -- step -- send        row     0     1     2     3     4
 *          \       \- wait        region  main  step  send  wait  step
 *           \ step                depth   0     1     2     2     1
 *                                 len     5     3     1     1     1
 *
 * The caller of a call is the last row before it that is one less deep; it is only kept for a
 * step, as exclusive times and numbers are (calls_of_step).
 *
 * At the end of a step what is finished is looked at and forgotten; calls that are still open
 * stay, with their callers, as the first rows of the next step. So memory is bounded by the
 * step and the depth of the stack, not by the length of the run.
 *
 *     step 1   main  solve  send  wait  solve        main and the last solve are open
 *     step 2   main  solve  send  wait ...           rows 0 and 1 are those
 */
#ifndef SNAG_STACK_CALLS_H
#define SNAG_STACK_CALLS_H

#include "base/paged.h"
#include "stack/details.h"
#include "trace/definitions.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEEPEST_CALL UINT16_MAX
/* inclusive_ns, at the end of a step, of a call not left yet, or cut (callstack_cut) */
#define CALL_OPEN UINT64_MAX

struct counter_reading {
    uint64_t time_ns;
    uint32_t call; /* row of the innermost call around it, or NO_CALL */
    struct counter_value value;
};

/* Where an estimate is, in the gap in which it may lie (calls_place). */
enum placed {
    PLACED_AS_SAID, /* the trace says it, and how far that may be off */
    PLACED_MIDDLE,  /* until calls_place has moved it */
    PLACED_OWN,     /* the gap counts for the call */
    PLACED_OTHERS,  /* the gap counts for another: what is around it, or beside it */
};

/* A begin or end of a call that is not known exactly. */
struct call_estimate {
    uint32_t call; /* row of its location */
    uint16_t is_leave;
    uint16_t placed; /* enum placed */
    uint64_t off_ns; /* by which it may be off, earlier or later */
};

/* A non-blocking send that was posted in an earlier step is complete. */
struct late_sent {
    uint32_t message; /* number on its location since the start, from 0 */
    uint64_t time_ns;
};

struct calls {
    uint32_t n;
    size_t cap;
    uint64_t *enter_ns;     /* [n] never decreasing */
    uint64_t *inclusive_ns; /* [n] leave - enter, below 2^63 */
    uint32_t *region;       /* [n] */
    uint32_t *subtree_len;  /* [n] self included, >= 1 */
    uint16_t *depth;        /* [n] 0 for a root */

    struct message *message; /* [n_messages] in the order of their records */
    size_t n_messages, message_cap;
    size_t n_messages_before; /* in the steps before */
    struct late_sent *sent;   /* [n_sent] only in steps */
    size_t n_sent, sent_cap;
    struct collective *collective;
    size_t n_collectives, collective_cap;
    struct counter_reading *counter;
    size_t n_counters, counter_cap; /* kept only in steps */

    /* What it did in teams, in the order of their begins; the barriers of each member's span
     * are together (spans_find_barriers). Not kept in steps. */
    struct team_span *span; /* [n_spans] */
    size_t n_spans, span_cap;
    uint32_t *barrier; /* [n_barriers] rows of calls of barriers */
    size_t n_barriers, barrier_cap;

    /* Begins and ends that are estimates: by call, the begin before the end. None in most
     * traces; not kept in steps. */
    struct call_estimate *estimate; /* [n_estimates] */
    size_t n_estimates, estimate_cap;

    struct details details; /* not kept in steps */

    uint64_t first_ns, last_ns; /* of any event; UINT64_MAX and 0 if there was none */
    uint32_t n_open; /* calls that were open when the events ended, one inside the other */

    struct paged *paged; /* the owner's choice, as below: for the columns; may be NULL */
    size_t n_expected;   /* the owner's, too: how many calls there may be; 0: not known */

    /* Of a step, see callstack_step. */
    bool has_steps;         /* the owner's choice, before anything is pushed */
    uint64_t *exclusive_ns; /* [n] inclusive minus that of the calls made; of one that is open,
                               minus that of those which are over, mod 2^64 */
    uint32_t *caller;       /* [n] row, < own, or NO_CALL */
    uint32_t *carried_id;   /* [n_carried] */
    uint64_t *carried_ns;   /* [n_carried] exclusive_ns when the step began */
    size_t carried_cap, carried_ns_cap;
    uint32_t n_carried; /* rows that were there when the step began */
    uint32_t first_id;  /* of the first row that was not */
    uint32_t top;       /* row of the innermost open call, or NO_CALL */
};

/* calls_id -- the number of a call of its location since the start, from 0, mod 2^32. */
static inline uint32_t calls_id(const struct calls *calls, uint32_t row)
{
    return row < calls->n_carried ? calls->carried_id[row]
                                  : calls->first_id + (row - calls->n_carried);
}

/* calls_never_ended -- as calls_is_open, of calls that are still being made: it is closed
 * because the events of its location have ended. */
static inline bool calls_never_ended(const struct calls *calls, uint32_t row)
{
    return calls->depth[row] < calls->n_open && row + calls->subtree_len[row] == calls->n;
}

/* calls_is_cut -- whether a call that is CALL_OPEN will not be there in the next step.
 * O(depth).
 */
static inline bool calls_is_cut(const struct calls *calls, uint32_t row)
{
    uint32_t open = calls->top;

    while (open != NO_CALL && open > row)
        open = calls->caller[open];
    return open != row;
}

/* The same, read-only, wherever it lies. */
struct call_view {
    uint32_t n;
    const uint64_t *enter_ns, *inclusive_ns;
    const uint32_t *region, *subtree_len;
    const uint16_t *depth;
    const uint32_t *by_depth;    /* [n] rows grouped by depth, each in time order; or NULL */
    const uint64_t *depth_start; /* [n_depths + 1] into by_depth */
    uint32_t n_depths;
    const struct message *message;
    size_t n_messages;
    const struct collective *collective;
    size_t n_collectives;
    const struct team_span *span;
    size_t n_spans;
    const uint32_t *barrier; /* [n_barriers] */
    size_t n_barriers;
    const struct call_estimate *estimate; /* [n_estimates] */
    size_t n_estimates;
    struct detail_view details;
    uint32_t n_open;   /* calls that did not end: at the depths below this one, the last each */
    uint64_t after_ns; /* how long the run went on when the events of the location had ended */
    uint64_t known_ns; /* of a step: what was called before is not there, but for what was still
                          open then; 0: all of it is */
};

/* calls_is_open -- a call did not end before the events of its location did. */
static inline bool calls_is_open(const struct call_view *calls, uint32_t row)
{
    return calls->depth[row] < calls->n_open && row + calls->subtree_len[row] == calls->n;
}

/* calls_add_estimate -- one more, in any order; calls_sort_estimates then puts them in theirs.
 */
void calls_add_estimate(struct calls *calls, struct call_estimate estimate);
void calls_sort_estimates(struct calls *calls);

/* calls_off_ns -- by how much the begin or the end of a call may be off; 0 where it is known,
 * or is known to be where it counts (calls_place). O(log n_estimates). */
uint64_t calls_off_ns(const struct call_view *calls, uint32_t row, bool is_leave);

/* calls_view -- of calls in memory; without the order by depth. */
struct call_view calls_view(const struct calls *calls);

/*
 * calls_callers -- the caller of every row.
 *   caller  (calls->n) out: a row, < own row, or NO_CALL for a root
 * O(n).
 */
void calls_callers(const struct call_view *calls, uint32_t *caller);

/*
 * calls_exclusive -- the caller of every row, and its time without the calls it made.
 *   caller        as calls_callers
 *   exclusive_ns  (calls->n) out
 * O(n).
 */
void calls_exclusive(const struct call_view *calls, uint32_t *caller, uint64_t *exclusive_ns);

/*
 * calls_caller -- the caller of one row, or NO_CALL.
 * O(log n) with the order by depth; without it, O(calls between it and its caller).
 */
uint32_t calls_caller(const struct call_view *calls, uint32_t row);

void calls_release(struct calls *calls);

/* calls_clear -- forget all rows, keep the memory for the next location. */
void calls_clear(struct calls *calls);

/*
 * calls_reserve -- make room for n more calls. Where 1/16 of n_expected is there, the rest is
 * believed to come, and room is made for it once; else what there is room for is doubled.
 */
void calls_reserve(struct calls *calls, size_t n);

/*
 * calls_copy_step -- the calls and messages of a step once more, in no more memory than they need:
 * for those who look at them when the step is over. Without what is in neither.
 *   to    zeroed
 *   step  has_steps
 * O(calls + messages).
 */
void calls_copy_step(struct calls *to, const struct calls *step);

/*
 * calls_insert -- calls that the trace does not have, around some that it has.
 *
 *     main ( a b  a b  c )   -->   main ( loop ( a b )  loop ( a b )  c )
 */

/* New calls of one region: call i is around the rows begin[i] .. end[i] - 1. */
struct insertion {
    uint32_t region;
    uint32_t n;
    uint32_t *begin, *end; /* [n] ascending; end[i] <= begin[i + 1] */
    uint64_t typical_ns;   /* how long one typically lasts */
};

/*
 * insertion_ns -- how long new call i lasts: from the enter of the first call in it to that of
 * the first in the next new call, where that follows directly. Else it is not known when it was
 * over: after the last call in it, and before what was called next on its level. So it lasts as
 * long as typical, within these.
 */
uint64_t insertion_ns(const struct call_view *calls, const struct insertion *insert,
                      uint32_t i);

/*
 * calls_insert -- the calls with new ones between them.
 *   from    its messages and collectives are not looked at; what is known of begins and ends
 *           is, and holds for new calls, too
 *   insert  an element whose rows are not whole calls on one level is taken out, as is all when
 *           there is no room for a level more
 *   into    cleared, then filled; its times of the first and last event are the caller's
 * O(calls).
 */
void calls_insert(const struct call_view *from, struct insertion *insert, struct calls *into);

/* calls_moved -- where row `row` of `from` is now; NO_CALL stays so. O(log n). */
uint32_t calls_moved(const struct insertion *insert, uint32_t row);

/*
 * calls_place -- where calls are put of which it is not known when they began and ended.
 *
 * Of functions that were found on stacks it is known, mostly, between which two calls of MPI
 * they began or ended, a gap. What else happened in it is not: a rank that slept for 25 ms may
 * have done so in what ends there, in what begins, or in between. In the middle of the gap
 * borders would give half of it to each, which is wrong whatever happened. So a gap is never
 * divided:
 *
 *     Waitall |           gap            | Irecv        Recv |     gap      | Send
 *          ...step][step                 [exchange      take]               [give
 *                   `- all of it is the next step's            `- their caller's, stage
 *
 *   - what ends, ends at the begin of the gap;
 *   - of calls that begin, one in the other, the inner ones begin at its end;
 *   - the outermost one begins there, too, if what it is called by is itself called again and
 *     again, about as often: then the gap is within a call of that, whatever happened in it;
 *     else at the begin of the gap, as otherwise it would belong to nobody but main.
 *
 * How far a border may be off the other way is kept with it. What the trace says more exactly,
 * as a return that the tracer has seen, or a sample, stays as it is.
 */

/*
 * calls_place -- move borders that are in the middle of where they may be.
 *   calls  of one location, complete, estimates sorted; no estimate is in the middle any more.
 *          No border moves past another one, so calls stay within those that made them.
 * O(calls) where there are such estimates, else O(1).
 */
void calls_place(struct calls *calls);

/*
 * held_up -- writes of the tracer that lasted so long that it was not the tracer.
 *
 * What a tracer does while the program waits is nobody's time. But a process that is stopped in
 * a write, or whose disk stands still, is held up, and that one sees in its times only there:
 *
 *     60 us  58 us  71 us  64.4 ms  62 us       the fourth is a call of BUFFER_FLUSH held up
 */

/*
 * held_up_tell -- give the writes of a location that were held up a region of their own.
 *   calls  of one location, complete; from these on nothing is known of the tracer's typical time
 *          but what they say: where it wrote fewer than 9 times, none was held up
 *   defs   the regions that writes are of have such a one (definitions_finish)
 * A write was held up when it took over 10 times as long as half of the others, and 3 times as
 * long as any but one in fifty. O(calls) where there are regions of writes, else O(regions).
 */
void held_up_tell(struct calls *calls, const struct definitions *defs);

#endif
