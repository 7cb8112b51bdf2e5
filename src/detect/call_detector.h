/*
 * call_detector -- is one call strange, given the durations of the other calls of its region?
 *
 * The streaming counterpart of detector.h: a model is made from a sketch, whoever filled it,
 * and judges one duration at a time. To add a method: one file and one row in call_detector.c.
 *
 * Every judgement has the method's own score, which grows with strangeness, and p, how likely a
 * normal call is to be at least as strange: its false-alarm probability. Anomalies are told by
 * p (sstd: by sigmas, where they are given), not by a fraction of the range of scores, so there
 * are none where nothing is strange.
 */
#ifndef SNAG_DETECT_CALL_DETECTOR_H
#define SNAG_DETECT_CALL_DETECTOR_H

#include "detect/sketch.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_DETECTOR_MOST_MODES 8u
#define CALL_DETECTOR_USUAL "hbos"
#define CALL_DETECTOR_PER 1e6 /* calls of which false alarms are told */

#define CALL_TAIL_KNOTS 4

/*
 * How normal durations thin out on one side of a mode, in x = ln(duration + 1): exponentially
 * from the first knot outwards, and from knot to knot inside; nothing inside the last is rare.
 */
struct call_tail {
    double at[CALL_TAIL_KNOTS]; /* x, from the outermost inwards */
    double share;               /* of all calls that are beyond at[0], if they are normal */
    double stretch;             /* so many times as many are beyond the next knot inwards */
    double scale;               /* x per nat beyond at[0] */
};

/* One cluster of durations. */
struct call_mode {
    struct call_tail low, high;
};

/* What is kept of a sketch to judge by. */
struct call_model {
    uint64_t n;
    double mean, deviation, median;
    double
        noise_ns; /* that one in a thousand calls takes above the median; INFINITY: too few */
    uint32_t n_modes;
    struct call_mode mode[CALL_DETECTOR_MOST_MODES]; /* ascending */
};

struct call_judgement {
    double score;
    double p; /* 0..1 */
};

struct call_detector_opts {
    double p;      /* what a normal call would be as rarely as that is strange; 0 for 1e-5 */
    double sigmas; /* sstd: beyond so many deviations is strange, whatever p; 0: p tells */
    bool may_wait; /* the function waits for others: a short call left nothing out, it came last
                    */
};

/* Durations least_ns .. most_ns, both included. */
struct call_range {
    uint64_t least_ns, most_ns;
};

struct call_detector_ops {
    const char *name; /* as typed on the command line */
    const char *what;
    struct call_judgement (*judge)(const struct call_model *model, const struct sketch *sketch,
                                   uint64_t duration_ns);
    /* The durations that are not strange, ascending. Returns how many ranges. */
    uint32_t (*usual)(const struct call_model *model, const struct call_detector_opts *opts,
                      struct call_range range[CALL_DETECTOR_MOST_MODES]);
    double most_threshold; /* that a rule may have: 1 of a probability, more of sigmas */
};

/* call_detector_find -- the row of the table with this name, or NULL. */
const struct call_detector_ops *call_detector_find(const char *name);

/* call_detector_name -- of row i of the table; NULL after its last. */
const char *call_detector_name(size_t i);

/*
 * call_model_fit -- from a sketch of at least one duration. O(bins).
 * The sketch may hold the anomalies too, up to one call in fifty, as long as they stand apart
 * from the others: what is beyond a gap is not taken for the tail of what is before it.
 */
void call_model_fit(struct call_model *model, const struct sketch *sketch);

/* A model and what follows from it, for judging many calls. */
struct call_judge {
    const struct call_detector_ops *ops;
    struct call_model model;
    bool may_wait;   /* of the options */
    double noise_ns; /* that one call in 500 takes above the median; INFINITY: too few calls */
    uint32_t n_ranges;
    struct call_range range[CALL_DETECTOR_MOST_MODES];
};

/* call_judge_init -- O(bins of the sketch). */
void call_judge_init(struct call_judge *judge, const struct call_detector_ops *ops,
                     const struct call_detector_opts *opts, const struct sketch *sketch);

/* call_judge_is_anomaly -- whether a duration is strange, long or short: a few comparisons. */
static inline bool call_judge_is_anomaly(const struct call_judge *judge, uint64_t duration_ns)
{
    for (uint32_t i = 0; i < judge->n_ranges; i++)
        if (duration_ns >= judge->range[i].least_ns && duration_ns <= judge->range[i].most_ns)
            return false;
    return true;
}

/*
 * Whether a call is an anomaly, as is said after the run and while it runs. SLIGHT is strange
 * as well, but not by enough to be told of. Short calls have lost nothing, but work may have
 * been left out of them.
 */
enum call_verdict { CALL_USUAL, CALL_SLIGHT, CALL_STRANGE };

/*
 * call_judge_verdict -- on a duration.
 *   least_ns  from the median of its function: what an anomaly has lost, or left out, at least
 */
static inline enum call_verdict call_judge_verdict(const struct call_judge *judge,
                                                   uint64_t duration_ns, double least_ns)
{
    double more_ns = (double)duration_ns - judge->model.median;
    double apart_ns = judge->may_wait ? more_ns : fabs(more_ns);

    if (!call_judge_is_anomaly(judge, duration_ns))
        return CALL_USUAL;
    return apart_ns > 0 && apart_ns >= least_ns ? CALL_STRANGE : CALL_SLIGHT;
}

/*
 * call_noise -- what clock, tracer and system do to quick calls: a quarter of the functions
 * with enough calls have less of it. noise_ns  (n) the noise_ns of all judges; those that are
 * INFINITY do not count; sorted after Returns 0 when it is not known of any. O(n log n).
 */
double call_noise(double *noise_ns, size_t n);

/*
 * call_least_effect -- what an anomaly has to have lost, where nobody says it: 1 us, ten ticks
 * of the clock, or twice the noise, whichever is most.
 */
double call_least_effect(double tick_ns, double noise_ns);

#endif
