/*
 * monotone -- a location's time does not run backwards.
 *
 * A damaged time stamp is an outlier in one of two directions. One that is too early is moved
 * up to the event before it. One that is too late would, handled so, push every event after
 * it; so an event is looked at only when enough events after it are known, and a short run of
 * late ones followed by events that agree with those before it is moved back instead:
 *
 *      1 2 3 | 900 | 4 5 6   -->   1 2 3 | 4 | 4 5 6      900 is wrong
 *      4 5 6 |  2  | 7 8 9   -->   4 5 6 | 6 | 7 8 9        2 is wrong
 *
 * Time may lie before the start of the trace when the trace states that start wrongly: it then
 * wraps around below 0, and all comparisons are of differences, as signed numbers.
 */
#ifndef SNAG_TRACE_MONOTONE_H
#define SNAG_TRACE_MONOTONE_H

#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

/* Floor for the first events of a location: before any time a trace can have. */
#define MONOTONE_NO_FLOOR ((uint64_t)3 << 62)

/* Events that must be known after one before it can be trusted. */
#define MONOTONE_LOOK_AHEAD 64

/*
 * Times that a trace can have: from 36 years before its start, as that may be said wrongly, to
 * 109 years after it, as a clock may count from 1970. So any two of them are less than 2^62 ns
 * apart, which is what a run can hold, and nothing that is done with two of them overflows.
 */
#define TIME_EARLIEST_NS ((uint64_t)0 - ((uint64_t)1 << 60))
#define TIME_LATEST_NS ((uint64_t)3 << 60)
#define TIME_MAX_SPAN_NS (TIME_LATEST_NS - TIME_EARLIEST_NS)

/* time_is_possible -- no clock of a program says what is not; it is a damaged record that does.
 */
static inline bool time_is_possible(uint64_t ns)
{
    return ns - TIME_EARLIEST_NS <= TIME_MAX_SPAN_NS;
}

/* time_before -- a is earlier than b. Right as long as they are less than 292 years apart. */
static inline int time_before(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0;
}

/*
 * monotone_bound -- move events at impossible times: to the one before, or floor_ns; where
 * there is none, to the first after it that is possible, or to the start of the trace.
 *   event, floor_ns  as below
 * Returns how many were moved. O(n).
 */
uint64_t monotone_bound(struct event *event, size_t n, uint64_t floor_ns);

/*
 * monotone_repair -- make event[0..n) non-decreasing in time, and not before floor_ns.
 *   event     n events of one location in the order of the trace, at possible times. All but
 *             the last MONOTONE_LOOK_AHEAD can be trusted afterwards, those too when the trace
 *             ends here
 *   floor_ns  time of the last trusted event before these
 * Returns how many events were moved. O(n) when few are wrong.
 */
uint64_t monotone_repair(struct event *event, size_t n, uint64_t floor_ns);

#endif
