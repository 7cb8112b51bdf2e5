/*
 * trend -- how long the executions of a function took from run to run, in all and by call path,
 * and where that changed.
 *
 *     run          1     2     3     4     5     6
 *     step      8.01  8.03  7.99  9.20  9.18  9.21     changed at 4: +15 %
 *       solve   5.00  5.01  4.98  6.17  6.16  6.18     changed at 4: of it +1.18
 *       pack    1.00  1.00  1.01   .99  1.00  1.00
 *
 * Of each path its own time per execution; those of all paths together are the whole. The whole
 * is looked at as change_points says. A path has to be surer, as there are many, unless the whole
 * changes with the same run; and to change by enough of the whole to matter.
 */
#ifndef SNAG_COMPARE_TREND_H
#define SNAG_COMPARE_TREND_H

#include "compare/run_history.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * change_points -- where a series of measurements begins to come from somewhere else.
 *
 *     1.02 .95 .99 1.00 1.12 .90 | .50 .51 .48 .48 .55       changes at 6
 *
 * E-divisive means: of all ways to split a stretch, the one whose sides are farthest apart (in
 * energy distance, which compares whole distributions) is tested by permutations of the
 * stretch; if it is no chance, both sides are looked at in the same way. Nothing is assumed of
 * how values are distributed, but that they do not depend on each other.
 *
 * Source: Matteson and James 2014, A Nonparametric Approach for Multiple Change Point Analysis
 * of Multivariate Data, JASA 109.
 */

#define CHANGE_POINTS_MAX_VALUES 400u
#define CHANGE_POINTS_MIN_VALUES 2u     /* values between two of them */
#define CHANGE_POINTS_CHANCE 0.01       /* of a first one where there is none */
#define CHANGE_POINTS_PERMUTATIONS 999u /* of more values than 32; of fewer 9,999 */

struct change_point {
    uint32_t at;          /* first value of the new kind, >= 1 */
    double chance;        /* of such a split where there is none, by permutations */
    double before, after; /* means of the values up to the change points beside it */
};

/*
 * change_points_find -- those of a series.
 *   value  (n) finite, n <= CHANGE_POINTS_MAX_VALUES
 *   chance a split that is as probable where there is none is none
 *   out    (n) ascending
 * Returns how many. The same for the same values. O(n^2) memory; each permutation takes O(n^2),
 * and no more are made than it takes to see that a split is none.
 */
uint32_t change_points_find(const double *value, uint32_t n, double chance,
                            struct change_point *out);

/*
 * change_points_least_side -- of n values, with how few on one side a change may be found at all:
 * of fewer, one in more than 1 / chance orders of the same values is as good. 0: with any number
 * it is so. change_points_least_values -- the fewest values of which one may be found.
 */
uint32_t change_points_least_side(uint32_t n, double chance);
uint32_t change_points_least_values(double chance);

#define CHANGE_POINTS_SUSPECTED 0.002 /* chance of a suspected one where there is none */

/*
 * change_point_suspect -- the most probable split of a series, as of measurements whose
 * logarithms are normal: what is assumed stands in for values that are not there, so it is found
 * among few, and no more than suspected. Not told where it is less than TREND_MIN_RATIO.
 *   value     (n) > 0, finite
 *   min_last  values after it, at least; before it there are CHANGE_POINTS_MIN_VALUES
 * Returns whether there is one. O(n).
 */
bool change_point_suspect(const double *value, uint32_t n, uint32_t min_last,
                          struct change_point *out);

#define TREND_MAX_RUNS CHANGE_POINTS_MAX_VALUES
#define TREND_MIN_RATIO 0.01 /* of the whole: a change that is less is none */
#define TREND_PATH_CHANCE                                                                      \
    0.001 /* surer, as there are many, but where the whole changes with the same run */

struct trend_series {
    char *path;                  /* "step > solve", by short names; of the whole the function */
    double *ns;                  /* [n_runs] per execution; 0 where a run does not have it */
    struct change_point *change; /* [n_changes] */
    uint32_t n_changes;
    double largest_ns; /* of all runs */
};

struct trend {
    struct history_run *run;   /* [n_runs] oldest first; source and foi are owned */
    struct history_tags *tags; /* [n_runs] */
    uint32_t n_runs;
    struct trend_series *series; /* [n_series] the whole first, then the largest path first */
    uint32_t n_series;
    bool seems_changed;        /* the whole, since its last change: */
    struct change_point seems; /* suspected; of the last run alone, too */
    size_t run_cap, tags_cap;
};

/*
 * trend_load -- the runs that pass a filter, all of one function of interest.
 *   filter  the last TREND_MAX_RUNS of what passes are taken
 * Returns 0, ERR_NOT_FOUND when there is none, ERR_USAGE when several functions pass, or as
 * history_load. Release it in any case. O(runs * paths), and what change_points_find takes for
 * each path with a hundredth of the whole.
 */
int trend_load(struct history *history, const struct history_filter *filter, struct trend *out);
void trend_release(struct trend *trend);

#endif
