/*
 * arrows -- the messages of a window as a timeline draws them: not more than wanted, and chosen
 * so that every pair of locations and every part of the window has some.
 *
 * The window is cut into slots. Messages of a pair of locations that were sent in the same slot
 * are one heap; each heap gives equally many, those that have fewer give all. From a heap
 * evenly spaced ones are taken.
 */
#ifndef SNAG_SERVE_ARROWS_H
#define SNAG_SERVE_ARROWS_H

#include "run/levels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARROWS_ALL 200000u    /* records in a window that are all looked at */
#define ARROWS_SAMPLED 65536u /* of more, as many */

struct arrows_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    const uint32_t *location;  /* (n_locations) different ones, which exist */
    uint32_t n_locations;
};

struct arrow {
    double send_ns, recv_ns, bytes;
    uint32_t from, to, tag, send_call, recv_call;
};

struct arrows {
    struct arrow *arrow; /* [n] by send_ns */
    size_t n;
    uint64_t total;   /* messages with an end in the window, both ends on the locations */
    bool is_estimate; /* total is; and messages sent before the window are left out */
};

/*
 * arrows_of -- up to `most` messages of a window.
 *   arrows  zeroed
 *   levels  of these columns, or NULL
 * O(records in the window), and never more than ARROWS_ALL of them.
 */
void arrows_of(struct arrows *arrows, const struct columns *columns,
               const struct levels *levels, const struct arrows_window *window, size_t most);
void arrows_release(struct arrows *arrows);

/* arrows_from -- the first message of a location whose record was written at or after a time.
 */
size_t arrows_from(const struct columns *columns, const struct levels *levels,
                   uint32_t location, uint64_t time_ns);

#endif
