/*
 * compare_tree -- what changed between runs as a tree of call paths, for a picture: the times
 * of all executions, and of each kind of them, on both sides.
 */
#ifndef SNAG_VIEW_COMPARE_TREE_H
#define SNAG_VIEW_COMPARE_TREE_H

#include "compare/compare.h"

#include <jansson.h>

/*
 * compare_tree_to_json -- {"foi", "nodes", "kinds"}, as docs/formats.md has them. A node comes
 * after that of its caller; the first is the function of interest.
 */
json_t *compare_tree_to_json(const struct comparison *comparison);

#endif
