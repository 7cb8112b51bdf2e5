/*
 * call_detector -- is one call strange, given the durations of the other calls of its region?
 *
 * The streaming counterpart of detector.h: a judge is made from a sketch, whoever filled it,
 * and judges one duration at a time. To add a method: two functions and one row in
 * call_detector.c.
 *
 * Every judgement has the method's own score, which grows with strangeness, and p, how likely a
 * normal call is to be at least as strange: its false-alarm probability, by the tails of the
 * durations (struct call_model). `tails` tells anomalies by p, so there are none where nothing
 * is strange, and by what they lost. The others are Chimbuko's, each by the rule that was
 * published: whatever is beyond is an anomaly, long or short, however little it lost.
 *
 * The published rules are those of Chimbuko's on-node analysis by which a duration is an
 * anomaly:
 *
 *     sstd   |x - mean| > a s                       a = 6 deviations s of the sample
 *     hbos   h(x) >= least + t (most - least)       h = -log2(share of the calls in x's bin)
 *     copod  c(x) >= least + t (most - least)       c = max((l + r) / 2, corrected by skewness)
 *                                                   l, r = -log2(share of the calls <= x, >= x)
 *
 * least and most are the scores of the calls; t is 0.99 (Chimbuko's hbos_thres), and the
 * threshold never falls as calls are added (glob_thres). Bins of hbos are of equal width, 200
 * of them (hbos_max_bins). With skewness b the corrected score is r above 1, l below -1, and
 * l + r between: -l sign(b - 1) + r sign(b + 1).
 *
 * Source: Chimbuko, Overview, "Anomaly detection algorithm" and "Advanced anomaly analysis",
 * and the classes it refers to, in version 7.0; HBOS: Goldstein and Dengel, KI 2012; COPOD: Li
 * et al., ICDM 2020. Li et al. write max(l, r, the one that b's sign picks), which of one
 * variable is max(l, r); this is the form of the authors' program, PyOD, and of Chimbuko.
 * Departs from them: durations are those that a sketch keeps, to seven significant bits, so
 * that histograms of many processes add up exactly.
 */
#ifndef SNAG_DETECT_CALL_DETECTOR_H
#define SNAG_DETECT_CALL_DETECTOR_H

#include "detect/sketch.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_DETECTOR_MAX_MODES 8u
#define CALL_DETECTOR_TYPICAL "tails"
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
    struct call_mode mode[CALL_DETECTOR_MAX_MODES]; /* ascending */
};

struct call_judgement {
    double score;
    double p; /* 0..1 */
};

/* Which calls that are shorter than the typical one may be anomalies. */
enum call_short {
    CALL_SHORT_TYPICAL, /* as the detector has it: tails WORK, the others ALL */
    CALL_SHORT_NONE,
    CALL_SHORT_WORK, /* not of functions that wait for others: there, a short call left nothing
                        out, it came last */
    CALL_SHORT_ALL,
};

struct call_detector_opts {
    double p; /* tails: what a normal call would be as rarely as that is strange; 0 for 1e-5 */
    double sigmas;      /* sstd: beyond so many deviations is strange; 0 for 6 */
    double score_share; /* hbos, copod: strange is what scores at least the lowest score and
                           this share of the range of scores, above 0 to 1; 0 for 0.99 */
    bool is_local; /* ... of the scores as they are now; not the highest threshold so far */
    uint32_t most_bins; /* hbos: bins of the histogram; 0 for 200 */
    enum call_short takes_short;
    bool may_wait; /* the function waits for others */
};

/* Durations least_ns .. most_ns, both included. */
struct call_range {
    uint64_t least_ns, most_ns;
};

struct call_detector_ops;

/* A model and what follows from it, for judging many calls. Zeroed, or as it was fitted. */
struct call_judge {
    const struct call_detector_ops *ops;
    struct call_detector_opts opts;
    struct call_model model;
    bool takes_short;
    double noise_ns; /* that one call in 500 takes above the median; INFINITY: too few calls */
    double least_score;       /* hbos, copod: as high is strange */
    struct call_range *range; /* [n_ranges] durations that are not strange */
    uint32_t n_ranges;
    size_t range_cap;
};

struct call_detector_ops {
    const char *name; /* as typed on the command line */
    const char *what;
    double (*score)(const struct call_judge *judge, const struct sketch *sketch,
                    uint64_t duration_ns);
    /* Adds the durations that are not strange, in ascending order. */
    void (*typical)(struct call_judge *judge, const struct sketch *sketch);
    double most_threshold; /* that a rule may have: 1 of a share, more of sigmas */
    bool is_published;     /* without a least effect, and with calls that are too short */
};

/* call_detector_find -- the row of the table with this name, or NULL. */
const struct call_detector_ops *call_detector_find(const char *name);

/* call_detector_name -- of row i of the table; NULL after its last. */
const char *call_detector_name(size_t i);

/*
 * call_judge_fit -- make a judge by a sketch of at least one duration. O(bins of the sketch).
 *   judge  zeroed, or fitted to fewer of these calls before: the threshold of hbos and copod
 *          is not less then than it was, unless is_local
 */
void call_judge_fit(struct call_judge *judge, const struct call_detector_ops *ops,
                    const struct call_detector_opts *opts, const struct sketch *sketch);

/* call_judge_copy -- a judge of its own; into is zeroed or was fitted. */
void call_judge_copy(struct call_judge *into, const struct call_judge *from);
void call_judge_release(struct call_judge *judge);

/*
 * call_judge_score -- how strange a duration is, by a sketch that may have grown since.
 * O(bins of the sketch).
 */
struct call_judgement call_judge_score(const struct call_judge *judge,
                                       const struct sketch *sketch, uint64_t duration_ns);

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
enum call_verdict { CALL_TYPICAL, CALL_SLIGHT, CALL_STRANGE };

/*
 * call_judge_verdict -- on a duration.
 *   least_ns  from the median of its function: what an anomaly has lost, or left out, at least
 */
static inline enum call_verdict call_judge_verdict(const struct call_judge *judge,
                                                   uint64_t duration_ns, double least_ns)
{
    double more_ns = (double)duration_ns - judge->model.median;
    double apart_ns = judge->takes_short ? fabs(more_ns) : more_ns;

    if (!call_judge_is_anomaly(judge, duration_ns))
        return CALL_TYPICAL;
    return apart_ns > 0 && apart_ns >= least_ns ? CALL_STRANGE : CALL_SLIGHT;
}

/*
 * call_noise -- what clock, tracer and system do to quick calls: a quarter of the functions
 * with enough calls have less of it.
 *   noise_ns  (n) of all judges; those that are INFINITY do not count; sorted afterwards
 * Returns 0 when it is not known of any. O(n log n).
 */
double call_noise(double *noise_ns, size_t n);

/*
 * call_least_effect -- what an anomaly has to have lost, where nobody says it: 1 us, ten ticks
 * of the clock, or twice the noise, whichever is most; nothing by the published rules.
 */
double call_least_effect(const struct call_detector_ops *ops, double tick_ns, double noise_ns);

#endif
