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
#ifndef SNAG_FEATURES_NUMBERING_H
#define SNAG_FEATURES_NUMBERING_H

#include "base/idmap.h"
#include "forest/forest.h"
#include "forest/tree_share.h"

#include <stddef.h>
#include <stdint.h>

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
