/*
 * periodic -- call paths that a program takes by plan: in every 200th execution it writes
 * output.
 *
 * Such a path is rare and yet no sign of anything. Without this it would make every one of
 * these executions strange, at the same step in every run. A path is periodic if on each
 * location that has it the executions with it are equally far apart, from the first to the last
 * execution there, PERIODIC_MIN_TURNS of them at least; execution 0 may be left out, as in
 * `if (step > 0 && step % 50 == 0)`. By chance, k + 2 executions in n do that with
 * probability n^-k or so. One execution without it, or with it between two turns, and it is as
 * rare as it is.
 */
#ifndef SNAG_FEATURES_PERIODIC_H
#define SNAG_FEATURES_PERIODIC_H

#include "features/context.h"
#include "forest/forest.h"
#include "forest/tree_share.h"

#include <stddef.h>
#include <stdint.h>

/*
 * kind_sets -- which numbers of a column are in each kind of tree, and how often.
 *
 * A column says something of every vertex that is the same in all trees of a kind: its path,
 * its context. How many trees have a number, and how many vertices, is then to be had from the
 * kinds.
 */

/* Those of kind k are number[first[k]] .. number[first[k+1]-1], in order of first appearance.
 */
struct kind_sets {
    size_t *first; /* [kinds->n + 1] */
    uint32_t *number;
    uint32_t *count; /* vertices of a tree that have it */
    size_t cap_number, cap_count;
};

/*
 * kind_sets_find -- of a column.
 *   column  (kinds->at[n]) of kinds, all below n_numbers
 * O(vertices of the kinds).
 */
void kind_sets_find(struct kind_sets *sets, const struct tree_kinds *kinds,
                    const uint32_t *column, uint32_t n_numbers);
void kind_sets_release(struct kind_sets *sets);

#define PERIODIC_MIN_DISTANCE 20u /* executions; what comes more often is not rare */
#define PERIODIC_MIN_TURNS 5u

/*
 * periodic_paths -- which paths are periodic, and all that are below one.
 *   paths  of each kind of tree
 *   share  NULL, or: other processes have trees on these paths, too
 * Returns (context->n) PATH_PERIODIC or 0, to be freed. O(trees and paths in them).
 */
uint8_t *periodic_paths(const struct context *context, const struct forest *forest,
                        const struct tree_kinds *kinds, const struct kind_sets *paths,
                        const struct tree_share *share);

/*
 * periodic_numbers -- the same of other numbers that executions have.
 *   sets  of each kind of tree, numbers below n
 * Returns (n) 1 or 0, to be freed. O(n x locations, trees and numbers in them).
 */
uint8_t *periodic_numbers(uint32_t n, const struct forest *forest,
                          const struct tree_kinds *kinds, const struct kind_sets *sets,
                          const struct tree_share *share);

/*
 * periodic_executions -- in which executions a periodic path is taken, on any location.
 *   apart  (paths) enum path_apart, maybe of another forest
 *   path   of the vertices of kinds
 *   n      out: the largest number of an execution, + 1
 * Returns (n) 1 or 0 by the number of the execution on its location, to be freed. O(trees and
 * vertices of kinds).
 */
uint8_t *periodic_executions(const uint8_t *apart, const struct forest *forest,
                             const struct tree_kinds *kinds, const uint32_t *path, uint32_t *n);

#endif
