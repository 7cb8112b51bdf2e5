/*
 * ad -- anomaly detection while a program runs: steps of events in, strange calls out.
 *
 * A step's calls go to the sketches of their regions (or call paths), the models are made anew
 * where the sketches have grown, and then every finished call of the step is judged: so a call
 * is judged by what is known at the end of its step, itself included. Calls of which too few
 * have been seen wait, a bounded number of them, until there is a model. Then all sinks look at
 * the step, in their order, and it is forgotten. Calls that are open when the stream ends are
 * closed then, but neither learnt nor judged: nobody knows how long they would have taken.
 *
 * Nothing is kept of a step that is over but the sketches, the open calls and those that wait.
 */
#ifndef SNAG_LIVE_AD_H
#define SNAG_LIVE_AD_H

#include "detect/call_detector.h"
#include "live/live_models.h"
#include "stack/callstack.h"
#include "trace/stream.h"

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct live_exchange;
struct loop_watch;

#define NO_ROW UINT32_MAX

/* A strange call. */
struct verdict {
    uint32_t location, region;
    uint32_t model; /* that judged it; see ad_sketch */
    uint32_t row;   /* among the calls of its location in this step; NO_ROW: it had to wait */
    uint32_t id;    /* number of the call on its location */
    uint64_t step;  /* in which it was finished */
    uint64_t enter_ns, inclusive_ns, exclusive_ns;
    struct call_judgement judgement;
    double severity_ns; /* time above the median of the region, above 0 */
};

/* What a sink sees: a step that was judged, until the function returns. */
struct ad_step {
    const struct ad *ad;
    uint64_t number; /* from 0 */
    uint64_t begin_ns, end_ns;
    bool is_last;    /* no step follows; what was open is closed */
    uint64_t n_lost; /* events that were dropped before they got here, so far */
    const struct definitions *defs;
    const struct loop_watch *loop; /* or NULL */
    uint32_t n_locations;
    const struct calls *calls;     /* [n_locations] */
    const uint32_t *const *model;  /* [n_locations][calls.n] of each row, see ad_sketch */
    const struct verdict *verdict; /* [n_verdicts] those that waited, then by location, row */
    size_t n_verdicts;
};

/* Who wants to know of every step. */
struct ad_sink {
    void (*step)(void *ctx, const struct ad_step *step);
    void *ctx;
};

struct ad_opts {
    const struct call_detector_ops *detector;
    struct call_detector_opts detector_opts;
    bool is_inclusive;        /* judge inclusive times */
    bool is_by_path;          /* compare calls on the same call path only */
    uint32_t least_calls;     /* of a region, or path, before any of them is judged */
    uint32_t most_waiting;    /* calls that may wait; more are never judged */
    uint64_t least_ns;        /* calls that took less are never strange */
    double least_lost_ns;     /* that an anomaly lost; NAN: by call_least_effect */
    struct live_rules *rules; /* or NULL */
    const char *loop;         /* whose iterations are to be calls (loop_watch.h); NULL: none */
    struct live_exchange *exchange; /* with the parameter server, or NULL */
    const struct ad_sink *sink;     /* [n_sinks] */
    size_t n_sinks;
};

/* ad_default -- tails on exclusive time, 100 calls; no sinks. */
struct ad_opts ad_default(void);

/* What was done so far. */
struct ad_totals {
    uint64_t n_events, n_calls, n_anomalies, n_steps;
    uint64_t n_unjudged; /* calls of which there never were enough */
    uint64_t n_ignored;  /* ... of regions that are not judged */
    uint64_t n_bytes;    /* of the trace, and why not: as the stream has them */
    const char *no_bytes;
    uint64_t n_slight; /* strange calls that lost too little to be anomalies */
};

/*
 * ad_new -- to read a stream with.
 *   stream  open; stays so until ad_free
 */
struct ad *ad_new(struct stream *stream, const struct ad_opts *opts);

/* ad_free -- NULL is harmless. */
void ad_free(struct ad *ad);

/*
 * ad_next -- read and judge the next step; the last one is empty but for calls that were open.
 *   timeout_ms  to wait for it
 * Returns an enum stream_state or a negative ERR_*, as stream_next.
 */
int ad_next(struct ad *ad, int timeout_ms);

/*
 * ad_take, ad_end_step -- the same for events that are handed in, instead of ad_next: those of
 * one location, [begin, end) of a batch in time order; then the step is over, and is judged.
 * The stream says what there is (defs), and the times of the step.
 */
void ad_take(struct ad *ad, uint32_t location, const struct event_batch *batch, size_t begin,
             size_t end);
void ad_end_step(struct ad *ad);

/* ad_end -- read no more, though there may be more: the last step, as when the stream is over.
 */
void ad_end(struct ad *ad);

const struct ad_totals *ad_totals(const struct ad *ad);

/* ad_quality -- what was wrong with the calls, of all locations. */
const struct quality *ad_quality(const struct ad *ad);

/*
 * Models: by region, model i is that of region i; by path, they are numbered as the paths
 * appear.
 */
uint32_t ad_models(const struct ad *ad); /* how many there are */

/* ad_sketch -- the durations that a model judges by so far; NULL for one there is not. */
const struct sketch *ad_sketch(const struct ad *ad, uint32_t model);

/* ad_own_sketch -- of these, what was read here and not learnt from the parameter server. */
const struct sketch *ad_own_sketch(const struct ad *ad, uint32_t model);

/* ad_judge -- what judges calls by a model; NULL while there were too few of them. */
const struct call_judge *ad_judge(const struct ad *ad, uint32_t model);

/* ad_least_lost -- what an anomaly has to have lost by now, in ns. */
double ad_least_lost(const struct ad *ad);

/* ad_is_strange -- what a call that took so long is by now; false without a judge. */
bool ad_is_strange(const struct ad *ad, uint32_t model, uint64_t time_ns);

/* ad_model_name -- "solve", or "main/solve"; for the caller to free. */
char *ad_model_name(const struct ad *ad, uint32_t model);

/* ad_function -- what a model's function is called by in a store, to the end of the stream: see
 * live_exchange_number; without a parameter server, the model. */
uint32_t ad_function(const struct ad *ad, uint32_t model);

#endif
