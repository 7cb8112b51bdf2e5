/*
 * api_map -- all locations over time, as a picture of any number of them can be made of it:
 * how much of something was in each stretch of time on each location.
 *
 *     stretch       0    1    2    3
 *     location 0  [ 10 |  0 |  0 |  3 ]  total 13 ns
 *     location 1  [  0 |  0 | 90 |  0 ]  total 90 ns
 *
 * What is time in calls is read off the rectangles that the timeline shows of the same window
 * (lod.h), so it takes as long as these do, whatever the number of calls.
 */
#ifndef SNAG_SERVE_API_MAP_H
#define SNAG_SERVE_API_MAP_H

#include "run/levels.h"

#include <stdbool.h>
#include <stdint.h>

struct rank_map {
    uint64_t begin_ns, end_ns; /* begin < end */
    uint32_t width;            /* stretches of time, >= 1 */
    uint32_t rows;             /* locations */
    double *cell_ns;           /* [rows * width] */
};

/* rank_map_init -- with nothing in it. map->begin_ns, end_ns, width, rows are set. */
void rank_map_init(struct rank_map *map);
void rank_map_release(struct rank_map *map);

/*
 * rank_map_spread -- something that was, evenly, between two times; what is outside the window
 * is left out. O(stretches between them).
 */
void rank_map_spread(struct rank_map *map, uint32_t row, const double span_ns[2],
                     double amount_ns);

/*
 * rank_map_add_calls -- the time in calls of some regions on a location, which is its row.
 *   levels     of these columns, or NULL
 *   is_wanted  [n_regions]
 * Calls that are shorter than a quarter of a stretch count with others beside them, as the
 * longest of these. A stretch never holds more than it is long: calls inside others of the
 * same regions add nothing. O(rectangles of the location).
 */
void rank_map_add_calls(struct rank_map *map, const struct columns *columns,
                        const struct levels *levels, uint32_t location, const bool *is_wanted,
                        uint32_t n_regions);

/*
 * rank_map_shades -- the cells as one byte each, and the sum of each row.
 *   shade     [rows * width] out: 0 for nothing, else 255 times the root of the share of the
 *             most there is, at least 1
 *   total_ns  [rows] out
 * Returns the most there is in a cell.
 */
double rank_map_shades(const struct rank_map *map, uint8_t *shade, double *total_ns);

#endif
