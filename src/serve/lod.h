/*
 * lod -- level of detail: the calls of a window of time, as few rectangles as can be seen.
 *
 * They are those of run/levels.h: a call that takes an interval of 2^k ns or more is one, of
 * shorter ones those that are entered in the same interval are one. k is that of the largest
 * interval that is not longer than a pixel. Where that makes more rectangles than are wanted in
 * all, each line (a depth of a location) gets an equal share; what a quiet line does not need
 * the others have, and a busy one takes the smallest k that its share allows.
 *
 * Above the finest level that is kept rectangles are copied; below it they are made of the
 * calls in the window, which are then few. Without levels (of an older run, as long as they are
 * being made) they are searched for among the calls: O(width x log n) for a line.
 */
#ifndef SNAG_SERVE_LOD_H
#define SNAG_SERVE_LOD_H

#include "run/levels.h"

#include <stddef.h>
#include <stdint.h>

#define LOD_LOOKED_AT 64u /* without levels: calls of a rectangle that are compared */

struct lod_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    uint32_t width;            /* pixels, >= 1 */
    uint32_t n_depths;         /* depths 0 .. n_depths - 1 are wanted */
    uint32_t most;             /* rectangles in all, >= 1; but one for every line */
};

/* Rectangles as columns, by location and depth, each in time order. */
struct lod {
    size_t n;
    double *begin_ns, *end_ns;
    uint32_t *location;
    uint16_t *depth;
    uint32_t *region, *call; /* call: a row; of the longest of those that were merged */
    uint32_t *merged;        /* calls in the rectangle, >= 1 */
    size_t cap;
};

void lod_release(struct lod *lod);

/*
 * lod_make -- the rectangles of some locations.
 *   lod         zeroed
 *   levels      of these columns, or NULL
 *   location    (n_locations) different ones, which exist
 * At most 4 * width + 2 rectangles per line. A rectangle at the edge may reach out of the
 * window, with calls outside. Rows in it that cannot be are the last row. Without levels, and
 * of more than LOD_LOOKED_AT merged calls, `call` is one of the longer ones, else the longest.
 */
void lod_make(struct lod *lod, const struct columns *columns, const struct levels *levels,
              const uint32_t *location, uint32_t n_locations, const struct lod_window *window);

/* lod_interval -- k of the intervals that are no longer than a pixel. */
unsigned lod_interval(const struct lod_window *window);

#endif
