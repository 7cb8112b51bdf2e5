/*
 * call_detector -- is one call strange, given the durations of the other calls of its region?
 *
 * The streaming counterpart of detector.h: a model is made from a sketch, whoever filled it,
 * and judges one duration at a time. To add a method: one file and one row in call_detector.c.
 *
 * Every judgement has the method's own score, which grows with strangeness, and p, how likely a
 * normal call is to be at least as strange. Anomalies are told by p (sstd: by its sigmas), not
 * by a fraction of the range of scores, so there are none where nothing is strange.
 */
#ifndef SNAG_DETECT_CALL_DETECTOR_H
#define SNAG_DETECT_CALL_DETECTOR_H

#include "detect/sketch.h"

#include <stdbool.h>
#include <stdint.h>

#define CALL_DETECTOR_MOST_MODES 8u
#define CALL_DETECTOR_USUAL "hbos"

/* Where normal durations end on one side of a mode, and how they thin out beyond. */
struct call_tail {
    double edge;  /* ln(duration + 1) */
    double share; /* of all calls that are beyond the edge, if they are normal */
    double scale; /* ln of the duration per nat */
};

/* One cluster of durations. */
struct call_mode {
    struct call_tail low, high;
};

/* What is kept of a sketch to judge by. */
struct call_model {
    uint64_t n;
    double mean, deviation, median;
    uint32_t n_modes;
    struct call_mode mode[CALL_DETECTOR_MOST_MODES]; /* ascending */
};

struct call_judgement {
    double score;
    double p; /* 0..1 */
};

struct call_detector_opts {
    double sigmas; /* sstd: beyond so many deviations is strange; 0 for 6 */
    double p;      /* the others: less likely than this is strange; 0 for 1e-5 */
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
 * The sketch may hold the anomalies too, up to one call in a thousand or so: what is rarer than
 * that is not taken for normal, and beyond it only the trend of the normal ones counts.
 */
void call_model_fit(struct call_model *model, const struct sketch *sketch);

/* A model and what follows from it, for judging many calls. */
struct call_judge {
    const struct call_detector_ops *ops;
    struct call_model model;
    uint32_t n_ranges;
    struct call_range range[CALL_DETECTOR_MOST_MODES];
};

/* call_judge_init -- O(bins of the sketch). */
void call_judge_init(struct call_judge *judge, const struct call_detector_ops *ops,
                     const struct call_detector_opts *opts, const struct sketch *sketch);

/* call_judge_is_anomaly -- whether a duration is strange: a few comparisons. */
static inline bool call_judge_is_anomaly(const struct call_judge *judge, uint64_t duration_ns)
{
    for (uint32_t i = 0; i < judge->n_ranges; i++)
        if (duration_ns >= judge->range[i].least_ns && duration_ns <= judge->range[i].most_ns)
            return false;
    return true;
}

#endif
