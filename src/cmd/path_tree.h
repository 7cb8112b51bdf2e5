/*
 * path_tree -- an execution drawn as a tree of its call paths: repeated calls of a path are one
 * line, with how often, how long, and how long usually.
 */
#ifndef SNAG_CMD_PATH_TREE_H
#define SNAG_CMD_PATH_TREE_H

#include "explain/why.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * path_tree_print -- draw the first tree of the forest in `why` on stdout.
 *   depth   levels drawn, 0 for the default of 4; paths that lost time are drawn at any depth
 *   is_all  draw everything
 */
void path_tree_print(struct why *why, uint32_t depth, bool is_all);

#endif
