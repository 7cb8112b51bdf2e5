/*
 * lod -- level of detail: the calls of a window of time, as few rectangles as can be seen.
 *
 * Calls of one depth of a location lie behind each other in time and never overlap. A call at
 * least a pixel wide is a rectangle of its own. Narrower ones that are entered within the same
 * pixel become one, which says how many they are:
 *
 *     pixels        |       |       |       |
 *     calls       [a][b][c] [d     ........]   [e]
 *     rectangles  [a][b+c ] [d             ]   [e]       b+c: merged = 2
 *
 * Where the next pixel begins among the calls is found by a binary search, so a window costs
 * O(depth x width x log n), however many calls are in it.
 */
#ifndef SNAG_WEB_LOD_H
#define SNAG_WEB_LOD_H

#include "stack/calls.h"

#include <stddef.h>
#include <stdint.h>

#define LOD_LOOKED_AT 4u /* calls of a rectangle that are compared to find the longest */

struct lod_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    uint32_t width;            /* pixels, >= 1 */
    uint32_t n_depths;         /* depths 0 .. n_depths - 1 are wanted */
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
 * lod_add -- the rectangles of one more location.
 *   calls  with the order by depth; numbers in it that cannot be are left out
 * At most 2 * width + 2 rectangles per depth. Of more than LOD_LOOKED_AT merged calls, evenly
 * spaced ones are compared, so `call` is then one of the longer ones.
 */
void lod_add(struct lod *lod, uint32_t location, const struct call_view *calls,
             const struct lod_window *window);

#endif
