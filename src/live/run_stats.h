/*
 * run_stats -- what a store has of a run as a whole: statistics of functions and counters, and
 * the models that judged.
 *
 * A model is stored when a record first names it, and once more at the end. Its version counts
 * the models of a function that are stored.
 */
#ifndef SNAG_LIVE_RUN_STATS_H
#define SNAG_LIVE_RUN_STATS_H

#include "live/ad.h"
#include "prov/prov_stats.h"

#include <stdbool.h>
#include <stdint.h>

/* sketch_stats -- of durations, in microseconds; skewness and kurtosis to 1.6 % of a value. */
struct prov_stats sketch_stats(const struct sketch *sketch);

/* Of the anomalies of one function. */
struct anomaly_stats {
    struct moments severity, score; /* microseconds */
};

void anomaly_stats_add(struct anomaly_stats *stats, double severity_ns, double score);

struct function_stats {
    struct sketch other; /* of the durations that are not judged: inclusive, or exclusive */
    struct anomaly_stats anomalies;
    uint64_t version, n_calls; /* of the model stored last; 0: there is none */
};

struct run_stats {
    bool is_inclusive;
    uint32_t program;
    struct function_stats *function; /* [n_functions] by model */
    uint32_t n_functions;
    size_t function_cap;
    struct moments *counter; /* [n_counters] */
    uint32_t n_counters;
    size_t counter_cap;
};

void run_stats_init(struct run_stats *stats, bool is_inclusive, uint32_t program);
void run_stats_release(struct run_stats *stats);

/* run_stats_step -- all calls and counters of a step, and its anomalies. O(calls). Calls that
 * are closed because the stream is over do not count. */
void run_stats_step(struct run_stats *stats, const struct ad_step *step);

/*
 * run_stats_keep -- these remain of the anomalies, others were taken back: the statistics are
 * of these then.
 *   kept          (ad_models) by model
 *   n_taken_back  all others; where both are not all that there were, as records were lost or
 *                 removed, nothing changes
 */
void run_stats_keep(struct run_stats *stats, const struct anomaly_stats *kept,
                    uint64_t n_taken_back);

/* run_stats_version -- of a model as it judges now, which is stored if need be. */
uint64_t run_stats_version(struct run_stats *stats, const struct ad_step *step, uint32_t model,
                           struct prov_store *store);

/* run_stats_put_numbers -- the statistics of functions and counters as they are now. */
void run_stats_put_numbers(const struct run_stats *stats, const struct ad_step *step,
                           struct prov_store *store);

/* run_stats_put -- the same, and the models as they are now. */
void run_stats_put(struct run_stats *stats, const struct ad_step *step,
                   struct prov_store *store);

#endif
