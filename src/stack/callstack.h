/*
 * callstack -- the events of one location become calls, and its records of teams of threads
 * spans.
 *
 * One stack of open calls; a call gets its row when it is entered and its duration when it is
 * left. Where enter and leave do not pair up, the damage is repaired locally (repair.h),
 * counted, and never shifts the calls after it.
 *
 * A fork and what a member does are two records each, at the begin and at the end; a record of
 * an end closes the innermost span of its kind that is open. What is open when the location
 * ends, ends there.
 */
#ifndef SNAG_STACK_CALLSTACK_H
#define SNAG_STACK_CALLSTACK_H

#include "stack/calls.h"
#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/quality.h"

#include <stddef.h>
#include <stdint.h>

/*
 * spans_find_barriers -- the calls of barriers in each member's span, without those in spans
 * inside it. When the location is complete. O(calls in spans * how deep these are nested).
 */
void spans_find_barriers(struct calls *calls, const struct definitions *defs);

struct callstack;

struct callstack *callstack_new(void);
void callstack_free(struct callstack *stack); /* NULL is harmless */

/*
 * callstack_begin -- start a location.
 *   calls    cleared and then filled; the caller's, must stay until callstack_end
 *   quality  what was repaired is counted here
 */
void callstack_begin(struct callstack *stack, struct calls *calls, struct quality *quality);

/* callstack_move -- the calls are somewhere else now. */
void callstack_move(struct callstack *stack, struct calls *calls);

/* callstack_regions -- calls of region n and beyond are skipped, and counted; else of none. */
void callstack_regions(struct callstack *stack, uint32_t n);

/*
 * callstack_polls -- which functions are polls (region_is_poll), for this location and those that
 * begin after it; else none are. Again when there are more regions. O(regions that are new).
 *
 * Polls of one function that follow each other within CALLSTACK_POLLS_APART_NS, or so soon that all
 * longer times between them are one in CALLSTACK_POLLS_SHARE of the rest at most, with nothing
 * recorded in between, are one call, from the begin of the first to the end of the last, as who
 * asks in a loop waits, and says no more by asking often. What completes something ends it:
 *
 *     Test  Test  Test          becomes    MPI_Test
 *     none  none  there                    [..... there]
 *
 * Those that were joined are counted (QUALITY_polls).
 */
#define CALLSTACK_POLLS_APART_NS 20000
#define CALLSTACK_POLLS_SHARE 4
void callstack_polls(struct callstack *stack, const struct definitions *defs);

/*
 * callstack_push -- the next events, [begin, end) of a batch, in time order.
 * Where time runs backwards all the same, a call that ends before it began took no time. O(end
 * - begin) as long as they pair up.
 */
void callstack_push(struct callstack *stack, const struct event_batch *batch, size_t begin,
                    size_t end);

/*
 * callstack_cut -- the highest open call of a region is not followed any further, nor what is
 * open in it, as nobody knows where it ends: its inclusive_ns is CALL_OPEN in this step, and it
 * is not carried to the next. Its caller counts its time until now as that of a call made.
 */
void callstack_cut(struct callstack *stack, uint32_t region, uint64_t time_ns);

/* callstack_end -- no more events: closes what is open, settles the repairs. */
void callstack_end(struct callstack *stack);

/*
 * callstack_step -- a step is over, or with callstack_end before it the last one: sets the
 * columns that only steps have. What came without its leave in the step is repaired as far as
 * the step shows. O(rows).
 */
void callstack_step(struct callstack *stack);

/* callstack_next -- the next step: forget what is finished. O(open calls). */
void callstack_next(struct callstack *stack);

#endif
