/* subtree_json -- the top subtrees of an execution, as JSON. */
#ifndef SNAG_VIEW_SUBTREE_JSON_H
#define SNAG_VIEW_SUBTREE_JSON_H

#include "analysis/run_scoring.h"

#include <stddef.h>

#include <jansson.h>

/*
 * subtree_count -- how many have an importance that is not below a threshold, in either
 * direction; they come first.
 *   threshold  NAN for that of what there is twice or half as much of
 */
size_t subtree_count(const struct subtrees *subtrees, double threshold);

/* subtree_name -- how one is called, for people. Returns out. */
char *subtree_name(const struct subtrees *subtrees, const struct topsubtree *top,
                   char out[TOPSUBTREES_NAME_SIZE]);

/* subtree_to_json -- an array of those, with the vertices of the execution they begin at. */
json_t *subtree_to_json(const struct subtrees *subtrees, double threshold);

#endif
