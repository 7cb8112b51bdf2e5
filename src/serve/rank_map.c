/* Cells are doubles: parts of calls are added up. */
#include "serve/rank_map.h"

#include "base/mem.h"
#include "serve/lod.h"

#include <math.h>
#include <stdlib.h>

#define FINER 4u       /* rectangles are as fine as a part of a stretch */
#define MAX_DEPTHS 64u /* that calls are looked for at */

void rank_map_init(struct rank_map *map)
{
    map->cell_ns = mem_alloc((size_t)map->rows * map->width, sizeof *map->cell_ns);
}

void rank_map_release(struct rank_map *map)
{
    free(map->cell_ns);
    map->cell_ns = NULL;
}

static double cell_length(const struct rank_map *map)
{
    return (double)(map->end_ns - map->begin_ns) / map->width;
}

void rank_map_spread(struct rank_map *map, uint32_t row, const double span_ns[2],
                     double amount_ns)
{
    double length = cell_length(map), begin = (span_ns[0] - (double)map->begin_ns) / length,
           end = (span_ns[1] - (double)map->begin_ns) / length;
    double from = begin > 0 ? begin : 0, until = end < map->width ? end : map->width;
    double *cell = map->cell_ns + (size_t)row * map->width;

    if (!(until > from))
        return;
    for (uint32_t x = (uint32_t)from; x < map->width && x < until; x++) {
        double part = fmin(until, x + 1.0) - fmax(from, x);

        cell[x] += amount_ns * part / (end - begin);
    }
}

void rank_map_add_calls(struct rank_map *map, const struct columns *columns,
                        const struct levels *levels, uint32_t location, const bool *is_wanted,
                        uint32_t n_regions)
{
    const struct lod_window look = {map->begin_ns, map->end_ns, FINER * map->width, MAX_DEPTHS,
                                    4 * FINER * map->width * MAX_DEPTHS};
    double *cell = map->cell_ns + (size_t)location * map->width, most = cell_length(map);
    struct lod lod = {.n = 0};

    lod_make(&lod, columns, levels, &location, 1, &look);
    for (size_t i = 0; i < lod.n; i++) {
        const double span[] = {lod.begin_ns[i], lod.end_ns[i]};

        if (lod.region[i] < n_regions && is_wanted[lod.region[i]])
            rank_map_spread(map, location, span, span[1] - span[0]);
    }
    for (uint32_t x = 0; x < map->width; x++)
        cell[x] = fmin(cell[x], most);
    lod_release(&lod);
}

double rank_map_shades(const struct rank_map *map, uint8_t *shade, double *total_ns)
{
    size_t n = (size_t)map->rows * map->width;
    double highest = 0;

    for (size_t i = 0; i < n; i++)
        highest = fmax(highest, map->cell_ns[i]);
    for (uint32_t y = 0; y < map->rows; y++)
        total_ns[y] = 0;
    for (size_t i = 0; i < n; i++) {
        double part = map->cell_ns[i] > 0 ? 255 * sqrt(map->cell_ns[i] / highest) : 0;

        shade[i] = part > 0 && part < 1 ? 1 : (uint8_t)lround(part);
        total_ns[i / map->width] += map->cell_ns[i];
    }
    return highest;
}
