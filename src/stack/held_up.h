/*
 * held_up -- writes of the tracer that lasted so long that it was not the tracer.
 *
 * What a tracer does while the program waits is nobody's time. But a process that is stopped in
 * a write, or whose disk stands still, is held up, and that one sees in its times only there:
 *
 *     60 us  58 us  71 us  64.4 ms  62 us       the fourth is a call of BUFFER_FLUSH held up
 */
#ifndef SNAG_STACK_HELD_UP_H
#define SNAG_STACK_HELD_UP_H

#include "stack/calls.h"
#include "trace/definitions.h"

/*
 * held_up_tell -- give the writes of a location that were held up a region of their own.
 *   calls  of one location, complete; from these on nothing is known of the tracer's usual time
 *          but what they say: where it wrote fewer than 9 times, none was held up
 *   defs   the regions that writes are of have such a one (definitions_finish)
 * A write was held up when it took over 10 times as long as half of the others, and 3 times as
 * long as any but one in fifty. O(calls) where there are regions of writes, else O(regions).
 */
void held_up_tell(struct calls *calls, const struct definitions *defs);

#endif
