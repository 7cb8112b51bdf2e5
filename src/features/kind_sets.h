/*
 * kind_sets -- which numbers of a column are in each kind of tree, and how often.
 *
 * A column says something of every vertex that is the same in all trees of a kind: its path,
 * its context. How many trees have a number, and how many vertices, is then to be had from the
 * kinds.
 */
#ifndef SNAG_FEATURES_KIND_SETS_H
#define SNAG_FEATURES_KIND_SETS_H

#include "forest/tree_kinds.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
