/*
 * context -- the call path of every vertex of a forest, as a number; and numbers that several
 * processes have given (numbering).
 *
 * A path is the functions from the root of the tree down to the vertex. Paths form a tree of
 * their own, much smaller than the forest; numbers are given in order of first appearance, so a
 * path comes after that of its caller.
 */
#ifndef SNAG_FEATURES_CONTEXT_H
#define SNAG_FEATURES_CONTEXT_H

#include "base/idmap.h"
#include "forest/forest.h"
#include "forest/tree_share.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why calls on a path are no part of their caller's shape, or of the size of a tree. */
enum path_apart {
    PATH_PERIODIC = 1, /* taken by plan (periodic.h) */
    PATH_SAMPLED = 2,  /* that a sample fell into them is chance, as that a write was held up */
    PATH_OPENING = 4   /* in the first execution of every location, and in no other: so the
                          program begins */
};

#define PATH_NONE UINT32_MAX /* not a path; also the caller of the root's */

/* path_is_periodic -- of apart (paths), what enum path_apart says of each; PATH_NONE is not. */
static inline bool path_is_periodic(const uint8_t *apart, uint32_t path)
{
    return path != PATH_NONE && (apart[path] & PATH_PERIODIC);
}

struct context {
    uint32_t n;       /* paths */
    uint32_t *parent; /* [n] path of the caller, < own number, or PATH_NONE for the root */
    uint32_t *region; /* [n] the last function of the path */
    struct idmap id;  /* key_pair(parent, region) */
    size_t cap;
};

/*
 * context_number -- the path of every vertex of a forest.
 *   is_learning  new paths get a number; else they, and all below them, are PATH_NONE
 *   path         (forest->n) out
 * O(vertices).
 */
void context_number(struct context *context, const struct forest *forest, bool is_learning,
                    uint32_t *path);

/* context_number_tree -- the same for the vertices of tree t alone: path is of these. */
void context_number_tree(struct context *context, const struct forest *forest, uint32_t t,
                         bool is_learning, uint32_t *path);
void context_release(struct context *context);

struct first_seen;

/*
 * context_unite -- paths that several processes have numbered, each in its own trees, become
 * those of all (numbering). All must call it.
 *   seen  (context->n) where each was seen first, ascending
 *   to    (context->n as it was) out: what each number is now
 */
void context_unite(struct context *context, const struct tree_share *share,
                   const struct first_seen *seen, uint32_t *to);

/* context_add -- the number of a path, new if it was not known. */
uint32_t context_add(struct context *context, uint32_t parent, uint32_t region);

/*
 * context_rename -- the same paths with other numbers of functions.
 *   to  [] new number of every number in use; no two may become one
 */
void context_rename(struct context *context, const uint32_t *to);

/*
 * numbering -- paths, contexts and shapes that several processes have numbered, each in the
 * order of its own trees, get the numbers that one process with all trees would have given.
 *
 * A number is given where something is seen first. Of what a process has numbered it says where
 * that was; process 0 goes through what all have, in the order of these places, numbers it
 * anew, and tells all what each number is now and whose it was.
 *
 *     process 0, trees 0 2     a 0 (tree 0)  b 1 (tree 2)
 *     process 1, trees 1 3     c 0 (tree 1)  b 1 (tree 1)    ->  a 0  c 1  b 2
 */

/* Where a number was given: in which tree of which location, and at which of its vertices. */
struct first_seen {
    uint32_t location, index, vertex;
};

/*
 * numbering_seen -- where the numbers of a column were given.
 *   column  (kinds->at[n]) of kinds: numbers below n, in order of first appearance
 * Returns (n), to be freed. O(vertices of kinds).
 */
struct first_seen *numbering_seen(const struct forest *forest, const struct tree_kinds *kinds,
                                  const uint32_t *column, uint32_t n);

/* What one process has numbered. */
struct numbering {
    uint32_t n;
    const struct first_seen *seen; /* [n] ascending */
    const void *entry;             /* [n] what has these numbers, width bytes each */
    size_t width;
    /*
     * What tells an entry from others, on all processes alike; where it refers to numbers of
     * its own process before it, they become what they are in `to`.
     */
    struct key (*identify)(void *entry, const uint32_t *to);
};

/*
 * numbering_unite -- all must call it; only with a share.
 *   to        (own n) out: what each number is now
 *   n_united  out
 * Returns the entries of all (n_united), each of the process that had it first; to be freed.
 */
void *numbering_unite(const struct tree_share *share, const struct numbering *own, uint32_t *to,
                      uint32_t *n_united);

/* numbering_apply -- n numbers of this process become those of all. */
void numbering_apply(const uint32_t *to, uint32_t *number, size_t n);

#endif
