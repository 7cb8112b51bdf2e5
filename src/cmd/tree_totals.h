/* tree_totals -- what became of the executions of functions of interest while a program ran. */
#ifndef SNAG_CMD_TREE_TOTALS_H
#define SNAG_CMD_TREE_TOTALS_H

#include "live/live_trees.h"
#include "trace/definitions.h"

#include <jansson.h>

/* tree_totals_print -- a line for each function on stdout; nothing for NULL. */
void tree_totals_print(const struct live_trees *trees, const struct definitions *defs);

/* tree_totals_json -- an array with an object for each. */
json_t *tree_totals_json(const struct live_trees *trees, const struct definitions *defs);

#endif
