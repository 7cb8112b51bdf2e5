/*
 * api_tree -- an execution as the tree of its call paths: repeated calls of a path are one
 * node, with how often, how long, and how long typically. And the typical execution in the same
 * form, made from the model.
 */
#ifndef SNAG_SERVE_API_TREE_H
#define SNAG_SERVE_API_TREE_H

#include "view/execution_detail.h"

#include <stdint.h>

#include <jansson.h>

/* A node; callers come before what they call, in preorder, siblings in order of time. */
struct call_path {
    uint32_t parent; /* node, < own number, or PATH_NONE */
    uint32_t depth;  /* 0 for the root */
    uint32_t region;
    double n_calls, typical_calls;
    double inclusive_ns, exclusive_ns;
    double typical_ns; /* exclusive; NAN when it is typically not there */
    double excess_ns;  /* exclusive over what is typical */
    double rarity;     /* of the rarest shape among its calls, nats */
    uint32_t call;     /* row of the longest of its calls, NO_CALL in a typical execution */
};

struct call_paths {
    uint32_t n;
    struct call_path *node; /* [n] */
};

/* call_paths_of -- of an execution that is located. O(vertices). */
void call_paths_of(struct call_paths *paths, const struct execution_detail *c);

/*
 * call_paths_typical -- the paths that at least half of the executions have, with their means.
 *   site  of model->local: own times are as is typical there; LOCAL_NONE: everywhere
 * Nodes are the same ones for all sites. O(paths).
 */
void call_paths_release(struct call_paths *paths);

/*
 * call_paths_sketch -- the `most` nodes with the most time, in preorder, each
 * [depth, share of the time, region, share of the time that is excess].
 */
json_t *call_paths_sketch(const struct call_paths *paths, uint32_t most);

#endif
