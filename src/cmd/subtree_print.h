/* subtree_print -- the top subtrees of an execution, as text and as JSON. */
#ifndef SNAG_CMD_SUBTREE_PRINT_H
#define SNAG_CMD_SUBTREE_PRINT_H

#include "analysis/subtrees.h"

#include <stdbool.h>

#include <jansson.h>

/*
 * subtree_print -- those whose importance is not below a threshold, in either direction.
 *   threshold  NAN for that of what there is twice or half as much of
 *   is_all     no more than ten otherwise
 */
void subtree_print(const struct subtrees *subtrees, double threshold, bool is_all);

/* subtree_to_json -- an array of all such, with the vertices of the execution they begin at. */
json_t *subtree_to_json(const struct subtrees *subtrees, double threshold);

#endif
