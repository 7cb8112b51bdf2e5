/*
 * shape -- which functions a call makes directly, and roughly how often.
 *
 * The shape of a vertex is the set {function: class of its number} over its children; numbers
 * are classed as 1, 2, 3, 4-7, 8-15, ... so that a loop's ordinary variation does not count. A
 * shape on a call path is rare when few calls of that path have it, or one as rare: this sees
 * what should not be there, what is missing, and combinations of both.
 *
 * The order of the calls is a part of the shape where it is firm (call_order.h): calls that
 * make the same ones in another order have a number of their own, from id.n on.
 */
#ifndef SNAG_FEATURES_SHAPE_H
#define SNAG_FEATURES_SHAPE_H

#include "base/idmap.h"
#include "features/call_order.h"
#include "features/context.h"
#include "forest/forest.h"
#include "forest/tree_share.h"
#include "trace/definitions.h"

#include <stdint.h>

/* One entry of a shape. */
struct shape_child {
    uint32_t region;
    uint32_t number_class; /* shape_class */
};

/* The shapes seen, each on one path. */
struct shapes {
    struct idmap id;       /* of (path, signature) */
    uint32_t *path;        /* [id.n] */
    uint32_t *calls;       /* [id.n] vertices that have it */
    uint32_t *first_calls; /* [id.n] of these, in first executions */
    double
        *rarity; /* [id.n] -ln of the share of calls of the path with this or a rarer shape */
    double
        *first_rarity; /* [id.n] the same among first executions; INFINITY where none has it */
    size_t cap;
    size_t *child_first;       /* [id.n + 1] into child */
    struct shape_child *child; /* of each shape in the order in which it called them first */
    size_t child_cap;
    struct call_orders orders;
};

/* shape_class -- 0, 1, 2 for these numbers, else 2 + floor(log2 n). */
static inline uint32_t shape_class(uint32_t n)
{
    return n <= 2 ? n : 2 + (31 - (uint32_t)__builtin_clz(n));
}

/* shape_class_range -- the smallest and largest number of a class. */
void shape_class_range(uint32_t number_class, uint32_t *least, uint32_t *most);

#define SHAPE_NONE UINT32_MAX

/* shapes_count -- numbers of shapes are below. */
static inline uint32_t shapes_count(const struct shapes *shapes)
{
    return shapes->id.n + shapes->orders.n;
}

/* shape_order -- which of shapes->orders a call with this shape is not in, or CALL_ORDER_FREE.
 */
static inline uint32_t shape_order(const struct shapes *shapes, uint32_t shape)
{
    return shape != SHAPE_NONE && shape >= shapes->id.n ? shape - shapes->id.n
                                                        : CALL_ORDER_FREE;
}

/* What shapes are found in. */
struct shapes_input {
    const struct forest *forest;
    const struct tree_kinds *kinds;
    const uint32_t *path; /* of the vertices of kinds */
    const uint8_t
        *is_apart; /* [paths] not 0: calls on it are no part of their caller's shape */
    const struct definitions *defs;
    const struct tree_share *share; /* NULL, or: shapes are learnt with other processes */
};

/*
 * shapes_find -- the shape of every vertex of every kind of tree.
 *   is_learning  new shapes get a number and calls are counted; else they are SHAPE_NONE
 *   shape        (kinds->at[n]) out: below shapes_count
 * O(vertices of these trees, and trees).
 */
void shapes_find(struct shapes *shapes, const struct shapes_input *input, bool is_learning,
                 uint32_t *shape);

/*
 * shapes_rank -- how rare each shape is, once all calls are counted.
 *   is_warm  first executions (index 0) are also compared among each other
 * O(shapes log shapes).
 */
void shapes_rank(struct shapes *shapes, bool is_warm);

/*
 * shape_rarity -- in nats; of a call in another order the larger one of its shape's and its
 * order's.
 *   is_of_first  among first executions: INFINITY where none has it
 */
double shape_rarity(const struct shapes *shapes, uint32_t shape, bool is_of_first);

void shapes_release(struct shapes *shapes);

/* shapes_typical -- the most frequent shape of a path; ties go to the first seen. */
uint32_t shapes_typical(const struct shapes *shapes, uint32_t path);

/*
 * shape_children -- the direct children of vertex v, counted per function.
 *   path      of the vertices of v's tree
 *   is_apart  as for shapes_find
 *   child     (most) out, in order of first appearance; number_class holds the *number* here
 * Returns how many functions there are, at most `most`.
 */
size_t shape_children(const struct forest *forest, const uint32_t *path,
                      const uint8_t *is_apart, uint32_t v, struct shape_child *child,
                      size_t most);

#endif
