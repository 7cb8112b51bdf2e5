/*
 * api_timeline -- what a window of the trace holds, by region: how many calls, and how long they and
 * what they called were in it.
 *
 * A call that reaches beyond the window counts with its part inside:
 *
 *     window        |------------------|
 *     solve     [=======]      [===========]      2 calls, total: what lies in the window
 *       send         [=]                          1 call; its time is not solve's own
 *
 * The columns are as somebody wrote them: nothing in them is believed.
 */
#ifndef SNAG_SERVE_API_TIMELINE_H
#define SNAG_SERVE_API_TIMELINE_H

#include "run/levels.h"

#include <stdint.h>

struct measure_region {
    uint64_t calls;
    uint64_t total_ns; /* of calls that are not inside another of the same region */
    uint64_t own_ns;   /* of all, without those that they called */
};

struct measure {
    struct measure_region *region; /* [n_regions] */
    uint32_t n_regions;
    uint64_t sent, sent_bytes; /* messages whose record lies in the window */
    uint64_t received, received_bytes;
};

void measure_init(struct measure *m, uint32_t n_regions);
void measure_release(struct measure *m);

/*
 * measure_add -- the part of a location that lies in [begin_ns, end_ns).
 *   columns  calls of the run
 *   levels   of these columns, or NULL
 * O(calls in the window, and calls before it that are not inside others). Returns 0, or
 * ERR_FORMAT where calls make no tree.
 */
int measure_add(struct measure *m, const struct columns *columns, const struct levels *levels,
                uint32_t location, const uint64_t window_ns[2]);

#endif
