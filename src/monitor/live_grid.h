/*
 * live_grid -- sums per row (a rank, a region, a counter) and time over a run of any length, in
 * bounded memory.
 *
 * Time bins have the same width for all rows, a power of two. A time beyond the last bin merges
 * bins in pairs until it fits, so the grid always spans all there was; sums of whole numbers
 * stay exact up to 2^53. With more rows there are fewer bins. Grids that begin at the same time
 * have bins that fit into those of a coarser one.
 */
#ifndef SNAG_MONITOR_LIVE_GRID_H
#define SNAG_MONITOR_LIVE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_PLANES 4u
#define LIVE_MAX_BINS 1024u
#define LIVE_MIN_BINS 16u
#define LIVE_MAX_CELLS (1u << 20) /* unless there are more rows than fit with LIVE_MIN_BINS */

/* What is summed up, of ranks and regions. Of counters: how many values, their sum. */
enum live_plane { LIVE_CALLS, LIVE_ANOMALIES, LIVE_SEVERITY, LIVE_EXCLUSIVE };

struct live_grid {
    uint64_t origin_ns; /* where bin 0 begins */
    uint32_t shift;     /* a bin is 2^shift ns wide */
    uint32_t n_bins, n_rows, row_cap;
    bool has_begun;
    double *plane[LIVE_PLANES]; /* [row_cap * n_bins] each */
};

/* Some of the bins, or groups of them. */
struct live_span {
    uint64_t begin_ns, bin_ns;
    uint32_t first, group; /* the first bin, and how many are one */
    uint32_t width;        /* groups */
};

void live_grid_init(struct live_grid *grid);
void live_grid_release(struct live_grid *grid);

/* live_grid_grow -- so many rows, no fewer than there are. */
void live_grid_grow(struct live_grid *grid, uint32_t n_rows);

/*
 * live_grid_reach -- make [begin_ns, end_ns) fit, so that adding within it merges no bins. The
 * first time it says where the grid begins.
 */
void live_grid_reach(struct live_grid *grid, uint64_t begin_ns, uint64_t end_ns);

/*
 * live_grid_add -- to one row and time; what is before the grid counts as its first bin, and so
 * does what is 292 years after its beginning: such times are those before it, see monotone.h.
 */
void live_grid_add(struct live_grid *grid, uint32_t row, uint64_t time_ns,
                   const double value[LIVE_PLANES]);

/*
 * live_grid_span -- the bins of [from_ns, to_ns) in at most `width` (>= 1) groups of a power
 * of two of them; none for no time, or before anything was added.
 *   last_ns  no time beyond this was added: bins after it are left out
 */
struct live_span live_grid_span(const struct live_grid *grid, uint64_t from_ns, uint64_t to_ns,
                                uint64_t last_ns, uint32_t width);

/* live_grid_read -- one row: out[span->width]. */
void live_grid_read(const struct live_grid *grid, enum live_plane plane, uint32_t row,
                    const struct live_span *span, double *out);

#endif
