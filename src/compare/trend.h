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
 * is looked at as change_points.h says. A path has to be surer, as there are many, and to
 * change by enough of the whole to matter.
 */
#ifndef SNAG_COMPARE_TREND_H
#define SNAG_COMPARE_TREND_H

#include "compare/change_points.h"
#include "compare/run_history.h"

#include <stdint.h>

#define TREND_MAX_RUNS CHANGE_POINTS_MAX_VALUES
#define TREND_MIN_RATIO 0.01    /* of the whole: a change that is less is none */
#define TREND_PATH_CHANCE 0.001 /* the least that permutations can say */

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
