/*
 * report_runs -- what a report says of what changed between runs, and of a history; and what its
 * drawings are made of: the tree of what changed, and the trend, as the page has them, made as small
 * as what is drawn.
 */
#ifndef SNAG_CMD_REPORT_RUNS_H
#define SNAG_CMD_REPORT_RUNS_H

#include "cmd/report_answers.h"
#include "cmd/settings.h"
#include "compare/compare.h"
#include "compare/trend.h"

#include <stdio.h>

#include <jansson.h>

#define REPORT_TREE_ADDRESS "/comparison/tree"
#define REPORT_TREND_ADDRESS "/history"
#define REPORT_TREE_BYTES (300u << 10) /* at most */
#define REPORT_MAX_SERIES 5u           /* of a trend: the whole, and paths that changed */

/*
 * report_change -- sections on what changed between the runs that the settings name, as
 * cmd/compared.h reads them.
 *   answers  what is drawn is added to it; it need not be open
 * Returns 0, a negative ERR_*, or an exit status.
 */
int report_change(FILE *out, const struct settings *settings, struct answers *answers);

/* report_history -- sections on the runs of a history; answers  as above. n_runs  out */
int report_history(FILE *out, const struct settings *settings, struct answers *answers,
                   uint32_t *n_runs);

/*
 * report_tree_prune -- paths that take too little time to be seen, on both sides, become one
 * node of their caller with the time of all of them, so that times still add up.
 *   tree       of compare_tree_to_json; kinds of execution, and the names of whole paths, which
 *              those of the nodes say, are left out
 *   narrowest  of the time of an execution
 */
void report_tree_prune(json_t *tree, double narrowest);

/*
 * report_add_trend -- the whole, and the paths on `path` (NULL: all) that changed most.
 *   series  out: (REPORT_MAX_SERIES) which of the trend these are
 * Returns how many are in; 0: there was no room.
 */
uint32_t report_add_trend(struct answers *answers, const struct trend *trend, const char *path,
                          uint32_t *series);

#endif
