/*
 * look_back -- a run of a history against those that were added before it.
 *
 *     number  1  2  3  4  5  6  7
 *             .  b  b  b  b  b  n     the 7th against the last 5 before
 */
#ifndef SNAG_COMPARE_LOOK_BACK_H
#define SNAG_COMPARE_LOOK_BACK_H

#include "compare/compare.h"
#include "compare/run_history.h"

#define LOOK_BACK_USUAL 10u /* runs */

struct look_back {
    int64_t run; /* its number */
    const char *foi;
    uint32_t last;                   /* so many runs before it, at most COMPARE_MAX_RUNS - 1 */
    const struct history_tags *tags; /* those before have all of these; NULL: any */
};

/*
 * look_back_compare -- what changed with a run.
 * Returns 0, ERR_NOT_FOUND when the history does not have the run, or none before it, or as
 * history_load. Release out in any case. As compare_runs, and it reads what it compares.
 */
int look_back_compare(struct history *history, const struct look_back *of,
                      struct comparison *out);

#endif
