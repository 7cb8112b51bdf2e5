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
#ifndef SNAG_STACK_CALLS_PLACE_H
#define SNAG_STACK_CALLS_PLACE_H

#include "stack/calls.h"

/*
 * calls_place -- move borders that are in the middle of where they may be.
 *   calls  of one location, complete, estimates sorted; no estimate is in the middle any more.
 *          No border moves past another one, so calls stay within those that made them.
 * O(calls) where there are such estimates, else O(1).
 */
void calls_place(struct calls *calls);

#endif
