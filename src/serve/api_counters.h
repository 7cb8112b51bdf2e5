/*
 * api_counters -- what a counter read over a window, reduced to the columns of a picture.
 *
 * What grows is told by its rate: by how much it grew from one reading to the next, by the time
 * between them. Of anything else a reading holds until the next one (or, where the trace says
 * that it is of the time since the one before, back to that one).
 *
 *     ns        0     10    20    30    40    50
 *     reading   2     6     6           9              of a counter that grows
 *     per ns    |.4---|0----|.15--------|              behind the last one nothing is known
 *     columns   [          |           |           ]   least, greatest, mean by time
 *
 * Two readings at one time are one, the last; of what is told bit by bit, their sum. Where what
 * grows is less than before it began anew, and nothing is known of the time between.
 */
#ifndef SNAG_SERVE_API_COUNTERS_H
#define SNAG_SERVE_API_COUNTERS_H

#include "stack/details.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_TRACK_READ ((size_t)4 << 20) /* readings of a window that are all looked at */
#define COUNTER_TRACK_BESIDE 65536u /* ... and before and behind it, for the nearest ones */

struct counter_track_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    uint32_t width;            /* columns, >= 1 */
    size_t most; /* readings that are looked at: of more, so many in each column */
};

/* Neighbouring columns of which the same is known. */
struct counter_piece {
    uint32_t location;
    uint32_t first, end; /* columns; first < end */
    double least, greatest, mean;
};

struct counter_track {
    struct counter_piece *piece; /* [n] by location as they were added, then by column */
    size_t n, cap;
    uint64_t n_readings; /* in the window; only of those that were looked at where ... */
    bool is_estimate;    /* ... some were passed over */
    uint64_t n_fell;     /* how often what grows was less than before */
};

/* counter_track_is_rate -- whether it is told by its rate, per second; else by its value. */
bool counter_track_is_rate(const struct counter *is);

/*
 * counter_track_add -- the columns of a location; none where nothing is known.
 *   track    zeroed at first
 *   details  of the location; whatever is in there, nothing outside is read
 *   counter  index into the counters of the run, meant as `is` says
 * O(width + readings in the window), and never more than window->most of them.
 */
void counter_track_add(struct counter_track *track, const struct detail_view *details,
                       uint32_t location, uint32_t counter, const struct counter *is,
                       const struct counter_track_window *window);
void counter_track_release(struct counter_track *track);

#endif
