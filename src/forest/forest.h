/*
 * forest -- the call-stack trees of one function of interest.
 *
 * Every outermost call of the function is the root of a tree; recursive calls stay inside.
 * Trees lie one after another in the order of locations and, within one, of time; the vertices
 * of a tree are in preorder. With it, pushing down is a forward loop and gathering up a
 * backward one.
 */
#ifndef SNAG_FOREST_FOREST_H
#define SNAG_FOREST_FOREST_H

#include "stack/calls.h"

#include <stddef.h>
#include <stdint.h>

#define FOREST_ROOT UINT32_MAX

struct forest {
    uint32_t n;             /* vertices */
    uint32_t *region;       /* [n] index into the definitions' regions */
    uint32_t *parent;       /* [n] vertex of this forest, < own index, or FOREST_ROOT */
    uint64_t *exclusive_ns; /* [n] time in the call but not in its direct children */

    uint32_t n_trees;
    uint32_t *first;      /* [n_trees + 1] first vertex; tree t is first[t] .. first[t+1]-1 */
    uint32_t *location;   /* [n_trees] */
    uint32_t *index;      /* [n_trees] number on its location, from 0 */
    uint32_t *call;       /* [n_trees] row of the root among the calls of its location */
    uint64_t *enter_ns;   /* [n_trees] of the root */
    uint64_t *root_ns;    /* [n_trees] inclusive time of the root */
    uint32_t *n_messages; /* [n_trees] sends and receives inside */
    size_t vertex_cap, tree_cap;
};

void forest_release(struct forest *forest);

/*
 * forest_add -- the trees of one more location, in the order of locations.
 *   calls   of that location
 *   region  the function of interest
 * Returns 0, or ERR_RANGE when the forest would have 2^32 vertices or more. O(calls).
 */
int forest_add(struct forest *forest, uint32_t location, const struct call_view *calls,
               uint32_t region);

/*
 * forest_grow -- make room for more vertices and trees, and then some, for whoever appends
 * trees one by one: sets their columns, n and n_trees, and first[n_trees].
 */
void forest_grow(struct forest *forest, size_t n_vertices, size_t n_trees);

/*
 * forest_of_call -- a forest of just one tree: the call in this row, whatever its function.
 * The forest must be empty. Its index is 0.
 */
void forest_of_call(struct forest *forest, uint32_t location, const struct call_view *calls,
                    uint32_t row);

/*
 * forest_inclusive -- inclusive times of the vertices of tree t: they are not kept, as one pass
 * gathers them.
 *   out  (first[t+1] - first[t])
 */
void forest_inclusive(const struct forest *forest, uint32_t t, uint64_t *out);

/* forest_depth -- vertices on the longest path from a root, 0 for an empty forest. O(n). */
uint32_t forest_depth(const struct forest *forest);

/* forest_tree -- the tree that vertex v belongs to. O(log n_trees). */
uint32_t forest_tree(const struct forest *forest, uint32_t v);

#endif
