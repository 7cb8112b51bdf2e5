/*
 * report_changes -- what the drawings of a report on several runs are made of: the tree of what
 * changed, and the trend of a history, as the page has them, made as small as what is drawn.
 */
#ifndef SNAG_CMD_REPORT_CHANGES_H
#define SNAG_CMD_REPORT_CHANGES_H

#include "cmd/report_answers.h"
#include "compare/compare.h"
#include "compare/trend.h"

#include <jansson.h>

#define REPORT_TREE_ADDRESS "/comparison/tree"
#define REPORT_TREND_ADDRESS "/history"
#define REPORT_TREE_BYTES (300u << 10) /* at most */
#define REPORT_MAX_SERIES 5u           /* of a trend: the whole, and paths that changed */

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
