/*
 * rolling -- what the executions of a function were like lately, and how far from that one is.
 *
 * Mean and deviation of every feature over the executions that were left within a window of
 * time before this one. An execution is compared with those before it, then it is one of them.
 *
 * What is strange must not widen what is typical: a value further out than seven deviations
 * enters as if it were there and no further (Winsor). Then what fewer than one in fifty do,
 * 1 / 7^2, however extreme, cannot widen the deviation for long; what more of them do is taken
 * for another way of being typical. And where the program changes its pace, the mean follows,
 * which it would not if what is strange were left out.
 *
 * The first few have nothing before them to be compared with, and a program's start is often
 * slow. So when they are enough to judge by, they are clamped to seven deviations around their
 * median, by their median distance from it: of the first ones, fewer than half may be extreme.
 *
 * Forgetting is exact: values are whole numbers, sums of 128 bits, so what goes out of the
 * window leaves nothing behind, no rounding either.
 *
 * Source: Xie, Jeong, Matyasfalvi, Van Dam, Mueller, Yoo, Xu: Exploratory Visual Analysis of
 * Anomalous Runtime Behavior in Streaming High Performance Computing Applications, ICCS 2019,
 * section 4.2: rolling mean and standard deviation, three deviations. Departs from it: not by
 * Welford's method, as that cannot forget exactly; values are winsorised unless is_plain; an
 * execution is not part of what it is compared with.
 */
#ifndef SNAG_LIVE_ROLLING_H
#define SNAG_LIVE_ROLLING_H

#include "base/moments.h"
#include "base/text.h"
#include "live/live_forest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_TREE_FEATURES 8
#define TREE_FEATURE_MAX ((uint64_t)1 << 52) /* values beyond, 52 days, count as this */

struct tree_feature {
    const char *name;   /* as typed */
    const char *what;   /* in a sentence: "took 5.1 ms", "had 12 calls" */
    const char *unit;   /* after the number, if text does not say it */
    double least_ratio; /* deviations are at least this share of the mean, */
    double least;       /* and this much: clocks tick, and one call more says little */
    uint64_t (*value)(const struct live_forest *lf, uint32_t t);
    char *(*text)(double value, char out[TEXT_SIZE]);
};

/*
 * tree_features_parse -- from names separated by commas.
 *   feature  (MAX_TREE_FEATURES) out
 * Returns how many, or ERR_USAGE for a name that is not known, twice there, or too many.
 */
int tree_features_parse(const char *names, const struct tree_feature **feature);

/* tree_feature_value -- of tree t, at most TREE_FEATURE_MAX. */
uint64_t tree_feature_value(const struct tree_feature *feature, const struct live_forest *lf,
                            uint32_t t);

#define ROLLING_MAX_EXECUTIONS                                                                 \
    1000000u              /* executions that are remembered; older are forgotten early */
#define ROLLING_CLAMP 7.0 /* deviations, or as many as make an anomaly if that is more */

struct rolling_opts {
    const struct tree_feature *feature[MAX_TREE_FEATURES];
    uint32_t n_features;
    uint64_t window_ns;
    double sigmas;  /* beyond which an execution is an anomaly */
    uint32_t least; /* executions before any is judged */
    bool is_plain;  /* values count as they are */
};

/* Sums of one feature over the window. */
struct rolling {
    const struct rolling_opts *opts; /* not its own */
    uint64_t *exit_ns;               /* [cap] ring: [first, first + n) modulo cap */
    uint64_t *value;                 /* (cap, n_features), as they entered */
    size_t cap, first, n;
    bool has_begun; /* values are clamped: from opts->least on, until half of that is left */
    struct exact_sums sum[MAX_TREE_FEATURES];
};

void rolling_init(struct rolling *r, const struct rolling_opts *opts);
void rolling_release(struct rolling *r);

/* How one execution compares. */
struct rolling_score {
    double sigmas;    /* of the feature that is furthest out; NAN when there were too few */
    uint32_t feature; /* that one */
    double value, mean, deviation;
    size_t n; /* executions compared with */
};

/*
 * rolling_judge -- compare an execution, then make it one of those to compare with.
 *   exit_ns  when it was left; not before the last one's
 *   value    (n_features)
 * O(n_features) on average: the begin is gone through once, and again only after half of it was
 * forgotten.
 */
struct rolling_score rolling_judge(struct rolling *r, uint64_t exit_ns, const uint64_t *value);

/* rolling_mean, rolling_deviation -- over the window as it is; 0 when it is empty. */
double rolling_mean(const struct rolling *r, uint32_t feature);
double rolling_deviation(const struct rolling *r, uint32_t feature);

#define ROLLING_WHY_SIZE 256

/* rolling_why -- "took 38.1 ms, 5.2 deviations more than the mean of 12.0 ms ...". */
char *rolling_why(const struct rolling *r, const struct rolling_score *score,
                  char out[ROLLING_WHY_SIZE]);

#endif
