/*
 * live_tally -- what one step adds to the state of the live page, counted by the thread that
 * judges, with no lock.
 *
 * A pass over the calls of the step. Calls that follow each other in the same time bin are
 * added up at once, so what has to be added under the lock is little.
 */
#ifndef SNAG_MONITOR_LIVE_TALLY_H
#define SNAG_MONITOR_LIVE_TALLY_H

#include "live/ad.h"
#include "monitor/live_grid.h"
#include "monitor/live_points.h"
#include "monitor/live_stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_SAMPLE                                                                            \
    64u /* so many calls of a region and step are points at most, beside anomalies */

/* To be added to a grid. */
struct live_delta {
    uint32_t row;
    uint64_t time_ns;
    double value[LIVE_PLANES];
};

struct live_deltas {
    struct live_delta *delta; /* [n] */
    size_t n, cap;
};

/* What a rank or a region had in this step. */
struct live_share {
    struct live_stat exclusive_ns, severity_ns;
    uint64_t n_anomalies;
    uint64_t bin; /* of the calls that are being added up: */
    double calls, bin_exclusive_ns;
    uint64_t bin_time_ns;
    bool is_touched;
    uint32_t n_seen, every; /* of regions: one call in so many is a point, a power of two */
    uint32_t n_sampled;
};

/* What a counter read. */
struct live_reading {
    uint64_t n;
    double mean, square_sum; /* of what is above or below the mean */
    double minimum, maximum, last;
    uint32_t last_rank;
};

struct live_tally {
    struct live_share *rank, *region; /* [n_ranks], [n_regions] */
    uint32_t n_ranks, n_regions, n_counters;
    size_t rank_cap, region_cap, counter_cap;
    struct live_reading *counter; /* [n_counters] */
    uint32_t *touched;            /* [n_touched] regions */
    size_t n_touched, touched_cap;
    struct live_deltas ranks, regions, counters;
    struct live_point *point; /* [n_points] */
    uint32_t *turn;           /* [n_points] see add_point */
    size_t n_points, point_cap, turn_cap;
    uint32_t *messages; /* of the calls of a location, by row */
    size_t message_cap;
    uint64_t n_messages, severity_ns;
    uint32_t shift; /* bins of 2^shift ns ... */
    uint64_t origin_ns;
};

void live_tally_release(struct live_tally *tally);

/*
 * live_tally_step -- count a step anew; what was counted before is forgotten.
 *   rank_of       (step->n_locations) row of the rank of a location, < n_ranks
 *   is_inclusive  inclusive times were judged
 *   grid          of ranks or regions: whose bins they are
 */
struct live_tally_opts {
    const uint32_t *rank_of;
    uint32_t n_ranks;
    bool is_inclusive;
    const struct live_grid *grid;
};
void live_tally_step(struct live_tally *tally, const struct ad_step *step,
                     const struct live_tally_opts *opts);

/* live_reading_add, live_reading_merge -- one more value; those of another. */
void live_reading_add(struct live_reading *reading, double value, uint32_t rank);
void live_reading_merge(struct live_reading *into, const struct live_reading *from);

#endif
