/*
 * call_counters -- what counters say of one call, from their readings (stack/details.h).
 *
 * A counter that is read at every enter and leave says exactly what a call did: the difference
 * of the two. One that is read now and then does not; all that is known then is what it read
 * before, and in the call. Nothing is interpolated.
 *
 *     reading     8      9  12          15  16        of a counter that grows
 *     step        [      .  .           .   ]         begin 8, end 16, inclusive 8
 *       solve            [  .           ]             begin 9, end 15, inclusive 6
 *         io                [         ]               begin 12; where it ends it was not read
 *
 * Own is inclusive without that of the calls made, where all of these are known.
 */
#ifndef SNAG_STACK_CALL_COUNTERS_H
#define SNAG_STACK_CALL_COUNTERS_H

#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

#define CALL_COUNTERS_READ 65536u     /* readings looked at before and in a call */
#define CALL_COUNTERS_CHILDREN 65536u /* calls made whose borders are looked at */

struct counter_number {
    bool is_known, is_real;
    int64_t whole; /* or: */
    double real;
};

struct call_counter {
    uint32_t counter;
    const struct detail_reading *begin, *end; /* taken at its enter, at its leave; or NULL */
    const struct detail_reading
        *before;                       /* the last one before, if there was none at its enter */
    const struct detail_reading *last; /* the last one in it, if there was none at its leave */
    struct counter_number inclusive, own;
    uint64_t n;             /* readings from its begin to its end ... */
    double least, greatest; /* ... and what they read */
    bool has_all; /* else there are more than were looked at: those three mean nothing */
};

/* Of one call. A zeroed struct is empty. */
struct call_counters {
    struct call_counter *at; /* [n] by counter */
    uint32_t n;
};

void call_counters_release(struct call_counters *counters);

/*
 * call_counters_of -- those that were read on the location of a call.
 *   calls    with the order by depth
 *   row      of the call; what is around and in it must be in order (serve/api_calls.c)
 *   is       (n_counters) how each is meant
 *   out      release it
 * Whatever is in the readings, nothing outside is read. O(log readings + calls it made +
 * readings in it, within the limits above).
 */
void call_counters_of(const struct call_view *calls, uint32_t row, const struct counter *is,
                      uint32_t n_counters, struct call_counters *out);

/*
 * call_counters_between -- the same of another location, without calls: what it read was
 * read at times of its own. begin and end are always NULL; before is at begin_ns at the latest,
 * last at end_ns.
 */
void call_counters_between(const struct detail_view *details, uint64_t begin_ns,
                           uint64_t end_ns, uint32_t n_counters, struct call_counters *out);

/* call_arguments -- the arguments of a call: the first; *n how many. O(log arguments). */
const struct argument *call_arguments(const struct detail_view *details, uint32_t row,
                                      size_t *n);

#endif
