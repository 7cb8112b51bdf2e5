/*
 * calls_insert -- calls that the trace does not have, around some that it has.
 *
 *     main ( a b  a b  c )   -->   main ( loop ( a b )  loop ( a b )  c )
 */
#ifndef SNAG_STACK_CALLS_INSERT_H
#define SNAG_STACK_CALLS_INSERT_H

#include "stack/calls.h"

#include <stddef.h>
#include <stdint.h>

/* New calls of one region: call i is around the rows begin[i] .. end[i] - 1. */
struct insertion {
    uint32_t region;
    uint32_t n;
    uint32_t *begin, *end; /* [n] ascending; end[i] <= begin[i + 1] */
    uint64_t usual_ns;     /* how long one usually lasts */
};

/*
 * insertion_ns -- how long new call i lasts: from the enter of the first call in it to that of
 * the first in the next new call, where that follows directly. Else it is not known when it was
 * over: after the last call in it, and before what was called next on its level. So it lasts as
 * long as usual, within these.
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

#endif
