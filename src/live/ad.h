/*
 * ad -- anomaly detection while a program runs: steps of events in, strange calls out.
 *
 * A step is a slice of trace time. Its calls go to the sketches of their regions, the models
 * are made anew where the sketches have grown, and then every finished call of the step is
 * judged: so a call is judged by what is known at the end of its step, itself included. Calls
 * of regions that have been seen too rarely wait, a bounded number of them, until there is a
 * model.
 *
 * Nothing is kept of a step that is over but the sketches, the open calls and those that wait.
 */
#ifndef SNAG_LIVE_AD_H
#define SNAG_LIVE_AD_H

#include "detect/call_detector.h"
#include "live/live_calls.h"
#include "trace/source.h"

#include <stdbool.h>
#include <stdint.h>

struct ad;

/* A strange call, with where it is in its step. */
struct ad_anomaly {
    uint32_t location;
    const struct live_calls *calls; /* of the step; NULL for a call that had to wait */
    uint32_t row;                   /* in calls */
    uint32_t region;
    uint64_t enter_ns, time_ns; /* time_ns: what was judged */
    struct call_judgement judgement;
    double severity_ns; /* time above the median of the region */
};

struct ad_opts {
    const struct call_detector_ops *detector;
    struct call_detector_opts detector_opts;
    bool is_inclusive;
    uint64_t step_ns;
    uint32_t least_calls;  /* of a region before any of them is judged */
    uint32_t most_waiting; /* calls that may wait; more are judged as soon as it is possible */
    void (*anomaly)(void *ctx, const struct ad_anomaly *anomaly);
    void *ctx;
};

/* ad_default -- hbos on exclusive time, steps of a second, 100 calls; no callback. */
struct ad_opts ad_default(void);

/* What was done so far. */
struct ad_totals {
    uint64_t n_events, n_calls, n_anomalies, n_steps;
    uint64_t n_unjudged; /* calls of regions that never had enough of them */
};

/*
 * ad_open -- read a source step by step.
 *   source  open, with finished definitions; stays open until ad_close
 * Returns 0 or a negative ERR_*. Close in any case.
 */
int ad_open(struct ad **ad, struct source *source, const struct ad_opts *opts);

/* ad_step -- the next step. Returns 1, or 0 when the trace is over. */
int ad_step(struct ad *ad);

/* ad_close -- NULL is harmless. */
void ad_close(struct ad *ad);

const struct ad_totals *ad_totals(const struct ad *ad);

/* ad_sketch -- the durations of a region so far. */
const struct sketch *ad_sketch(const struct ad *ad, uint32_t region);

#endif
