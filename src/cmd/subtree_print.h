/* subtree_print -- the top subtrees of an execution, as text. */
#ifndef SNAG_CMD_SUBTREE_PRINT_H
#define SNAG_CMD_SUBTREE_PRINT_H

#include "analysis/subtrees.h"

#include <stdbool.h>

/*
 * subtree_print -- those whose importance is not below a threshold, in either direction.
 *   threshold  NAN for that of what there is twice or half as much of
 *   is_all     no more than ten otherwise
 */
void subtree_print(const struct subtrees *subtrees, double threshold, bool is_all);

#endif
