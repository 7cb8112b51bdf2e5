/*
 * tree_kinds -- which trees of a forest are made of the same calls in the same order.
 *
 * Most executions of a program do the same; only the times differ. What depends on functions
 * and callers alone, as labels, paths and shapes do, is then to be found once for each *kind*
 * of tree, in its first tree, and is the same in the others, vertex by vertex. Columns of
 * kinds hold it: one number for each vertex of a kind.
 */
#ifndef SNAG_FOREST_TREE_KINDS_H
#define SNAG_FOREST_TREE_KINDS_H

#include "base/pool.h"
#include "forest/forest.h"

#include <stdint.h>

struct tree_kinds {
    uint32_t n;        /* numbered in order of first appearance */
    uint32_t *of;      /* [forest->n_trees] the kind of every tree */
    uint32_t *first;   /* [n] the first tree of each */
    uint32_t *n_trees; /* [n] how many there are */
    uint32_t *at; /* [n + 1] vertices of kind k are at[k] .. at[k+1]-1 in columns of kinds */
};

/*
 * tree_kinds_find -- the kinds of a forest.
 *   pool  may be NULL
 * Trees are told apart by 128-bit hashes, as subtrees are (wl.h). O(vertices).
 */
void tree_kinds_find(struct tree_kinds *kinds, const struct forest *forest, struct pool *pool);
void tree_kinds_release(struct tree_kinds *kinds);

/* tree_kinds_vertex -- where vertex v of tree t is in columns of kinds. */
static inline uint32_t tree_kinds_vertex(const struct tree_kinds *kinds,
                                         const struct forest *forest, uint32_t t, uint32_t v)
{
    return kinds->at[kinds->of[t]] + (v - forest->first[t]);
}

#endif
