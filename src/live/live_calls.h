/*
 * live_calls -- the calls of one location while the program runs, a step at a time.
 *
 * Rows are calls in the order they were entered. At the end of a step what is finished has been
 * looked at and is forgotten; calls that are still open stay, with their ancestors, as the
 * first rows of the next step. So memory is bounded by the step and the depth of the stack, not
 * by the length of the run.
 *
 *     step 1   main  solve  send  wait  solve        main and the last solve are open
 *     step 2   main  solve  send  wait ...           rows 0 and 1 are those
 *
 * Where enter and leave do not pair up the damage stays local: a leave without its call is
 * skipped, calls above the one that is left are closed with it, and both are counted. So it
 * does where time runs backwards: a call that ends before it began took no time.
 */
#ifndef SNAG_LIVE_LIVE_CALLS_H
#define SNAG_LIVE_LIVE_CALLS_H

#include "trace/event.h"
#include "trace/quality.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_OPEN UINT64_MAX /* inclusive_ns of a call that has not been left */

struct live_counter {
    uint64_t time_ns;
    uint32_t call; /* row of the innermost call around it, or NO_CALL */
    struct counter_value value;
};

struct live_calls {
    uint32_t n;
    size_t cap;
    uint64_t *enter_ns;     /* [n] */
    uint64_t *inclusive_ns; /* [n] below 2^63, or LIVE_OPEN while it is open */
    uint64_t *exclusive_ns; /* [n] inclusive minus that of the direct children */
    uint32_t *region;       /* [n] */
    uint32_t *caller;       /* [n] row, < own, or NO_CALL */
    uint32_t *id;           /* [n] how manieth call of the location since the start, mod 2^32 */

    struct message *message; /* [n_messages] of this step; call is a row */
    size_t n_messages, message_cap;
    size_t n_messages_before; /* in the steps before */

    struct collective *collective; /* [n_collectives] that ended in this step; call is a row */
    size_t n_collectives, collective_cap;

    struct live_counter *counter; /* [n_counters] of this step */
    size_t n_counters, counter_cap;

    uint32_t n_regions; /* a call of a region beyond is skipped; set by the owner */
    uint32_t top;       /* row of the innermost open call, or NO_CALL */
    uint32_t n_carried; /* rows that were there when the step began */
    uint32_t next_id;
    uint64_t last_ns; /* of any event */
};

void live_calls_init(struct live_calls *calls);
void live_calls_release(struct live_calls *calls);

/* live_calls_push -- the next events, [begin, end) of a batch, in time order. */
void live_calls_push(struct live_calls *calls, const struct event_batch *batch, size_t begin,
                     size_t end, struct quality *quality);

/* live_calls_finish -- no more events: close what is open, at the time of the last event. */
void live_calls_finish(struct live_calls *calls, struct quality *quality);

/* live_calls_next_step -- forget what is finished. O(rows). */
void live_calls_next_step(struct live_calls *calls);

#endif
