#include "monitor/live_grid.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SHIFT 10 /* a microsecond */

void live_grid_init(struct live_grid *grid)
{
    *grid = (struct live_grid){.shift = FIRST_SHIFT, .n_bins = LIVE_MAX_BINS};
}

void live_grid_release(struct live_grid *grid)
{
    for (uint32_t p = 0; p < LIVE_PLANES; p++)
        free(grid->plane[p]);
    live_grid_init(grid);
}

/* The same sums in other arrays; bins are merged in pairs when there are half as many. */
static void lay_out(struct live_grid *grid, uint32_t row_cap, uint32_t n_bins)
{
    uint32_t is_halved = n_bins < grid->n_bins;

    for (uint32_t p = 0; p < LIVE_PLANES; p++) {
        double *plane = mem_alloc((size_t)row_cap * n_bins, sizeof *plane);

        for (uint32_t row = 0; row < grid->n_rows; row++)
            for (uint32_t b = 0; b < grid->n_bins; b++)
                plane[(size_t)row * n_bins + (b >> is_halved)] +=
                    grid->plane[p][(size_t)row * grid->n_bins + b];
        free(grid->plane[p]);
        grid->plane[p] = plane;
    }
    grid->shift += is_halved;
    grid->n_bins = n_bins;
    grid->row_cap = row_cap;
}

void live_grid_grow(struct live_grid *grid, uint32_t n_rows)
{
    uint32_t cap = grid->row_cap ? grid->row_cap : 4;

    if (n_rows > grid->row_cap) {
        while (cap < n_rows)
            cap *= 2;
        while ((size_t)cap * grid->n_bins > LIVE_MAX_CELLS && grid->n_bins > LIVE_MIN_BINS)
            lay_out(grid, grid->row_cap, grid->n_bins / 2);
        lay_out(grid, cap, grid->n_bins);
    }
    if (n_rows > grid->n_rows)
        grid->n_rows = n_rows;
}

/* Twice as wide bins. */
static void widen(struct live_grid *grid)
{
    uint32_t half = grid->n_bins / 2;

    for (uint32_t p = 0; p < LIVE_PLANES; p++)
        for (uint32_t row = 0; row < grid->n_rows; row++) {
            double *bin = grid->plane[p] + (size_t)row * grid->n_bins;

            for (uint32_t b = 0; b < half; b++)
                bin[b] = bin[2 * b] + bin[2 * b + 1];
            memset(bin + half, 0, half * sizeof *bin);
        }
    grid->shift++;
}

/* So far after the beginning; 0 before it, also where times have wrapped around 0. */
static uint64_t since_origin(const struct live_grid *grid, uint64_t time_ns)
{
    uint64_t since = time_ns - grid->origin_ns;

    return (int64_t)since < 0 ? 0 : since;
}

void live_grid_reach(struct live_grid *grid, uint64_t begin_ns, uint64_t end_ns)
{
    if (!grid->has_begun)
        grid->origin_ns = begin_ns >> FIRST_SHIFT << FIRST_SHIFT; /* the same for all grids */
    grid->has_begun = true;
    while (since_origin(grid, end_ns - 1) >> grid->shift >= grid->n_bins)
        widen(grid);
}

void live_grid_add(struct live_grid *grid, uint32_t row, uint64_t time_ns,
                   const double value[LIVE_PLANES])
{
    uint64_t bin;

    live_grid_reach(grid, time_ns, time_ns + 1);
    bin = since_origin(grid, time_ns) >> grid->shift;
    for (uint32_t p = 0; p < LIVE_PLANES; p++)
        grid->plane[p][(size_t)row * grid->n_bins + bin] += value[p];
}

struct live_span live_grid_span(const struct live_grid *grid, uint64_t from_ns, uint64_t to_ns,
                                uint64_t last_ns, uint32_t width)
{
    struct live_span span = {.begin_ns = grid->origin_ns, .group = 1};
    uint64_t last, n;

    if (to_ns > last_ns)
        to_ns = last_ns + 1;
    if (from_ns < grid->origin_ns)
        from_ns = grid->origin_ns;
    span.bin_ns = (uint64_t)1 << grid->shift;
    if (!grid->has_begun || from_ns >= to_ns)
        return span;
    last = (to_ns - 1 - grid->origin_ns) >> grid->shift;
    last = last < grid->n_bins ? last : grid->n_bins - 1;
    if ((from_ns - grid->origin_ns) >> grid->shift > last)
        return span;
    span.first = (uint32_t)((from_ns - grid->origin_ns) >> grid->shift);
    /* Groups begin at their multiples, so that a window that moves shows the same groups. */
    do {
        n = last / span.group - span.first / span.group + 1;
    } while (n > width && (span.group *= 2));
    span.first = span.first / span.group * span.group;
    span.width = (uint32_t)n;
    span.bin_ns = (uint64_t)span.group << grid->shift;
    span.begin_ns = grid->origin_ns + ((uint64_t)span.first << grid->shift);
    return span;
}

void live_grid_read(const struct live_grid *grid, enum live_plane plane, uint32_t row,
                    const struct live_span *span, double *out)
{
    const double *bin = grid->plane[plane] + (size_t)row * grid->n_bins;

    for (uint32_t i = 0; i < span->width; i++) {
        uint32_t b = span->first + i * span->group, end = b + span->group;

        out[i] = 0;
        for (; b < end && b < grid->n_bins; b++)
            out[i] += bin[b];
    }
}
