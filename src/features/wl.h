/*
 * wl -- which subtrees a call-stack tree is made of: Weisfeiler-Lehman labels.
 *
 * The label of degree 0 of a vertex is its function; that of degree d says the same of its
 * label of degree d-1 and the multiset of those of its children. So it stands for the subtree
 * down to d levels below the vertex. A vertex whose subtree has height h has labels of degree
 * 0..h, the last of which stands for its complete subtree.
 *
 * Labels are 128-bit hashes that depend on the names of functions only: equal subtrees have
 * equal labels on any rank, in any run. A multiset is hashed as the sum of its members' hashes,
 * which needs no sorting and lets a parent be brought up to date when a child's label changes.
 * Within a process labels are numbered; such a number is a *word*.
 *
 * Source: Xie, Xu, Mueller: A Visual Analytics Framework for the Detection of Anomalous Call
 * Stack Trees in High Performance Computing Applications, IEEE TVCG 2019, section 4.
 * Departs from it: degrees above WL_DEEPEST are left out, as their number is quadratic in the
 * depth of a chain.
 */
#ifndef SNAG_FEATURES_WL_H
#define SNAG_FEATURES_WL_H

#include "base/idmap.h"
#include "forest/forest.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WL_DEEPEST 64

/* All labels seen. */
struct vocab {
    struct idmap label; /* the 128-bit label of every word */
    uint16_t *degree;   /* [label.n] */
    uint32_t *region;   /* [label.n] of the subtree's root */
    size_t cap;
};

/*
 * What every tree is made of: words of tree t are word[first[t]] .. word[first[t+1]-1], each
 * once, in order of first appearance.
 */
struct bags {
    uint32_t n_trees;
    size_t *first; /* [n_trees + 1] */
    uint32_t *word;
    uint64_t *weight_ns; /* inclusive time of all roots of that subtree, summed */
    uint32_t *count;     /* how many there are */
    size_t cap;
};

struct wl {
    struct vocab vocab;
    struct bags bags;
    uint32_t *complete; /* [kinds.at[n]] word of the highest degree of every vertex of a kind */
    struct tree_kinds kinds; /* of the forest */
};

/*
 * wl_init -- label all vertices of a forest.
 *   defs       for the names of the regions
 *   with_bags  also say which subtrees each tree has; wl->bags is empty otherwise
 *   pool       may be NULL
 * O(sum over vertices of (1 + min(height, WL_DEEPEST))), without bags over those of one tree of
 * each kind.
 */
void wl_init(struct wl *wl, const struct forest *forest, const struct definitions *defs,
             bool with_bags, struct pool *pool);
void wl_release(struct wl *wl);

/* wl_complete -- the word of vertex v of tree t. */
static inline uint32_t wl_complete(const struct wl *wl, const struct forest *forest, uint32_t t,
                                   uint32_t v)
{
    return wl->complete[tree_kinds_vertex(&wl->kinds, forest, t, v)];
}

/* Where the subtrees of a tree are: word[i] has a root at vertex[i] of the forest. */
struct wl_occurrences {
    size_t n, cap_word, cap_vertex;
    uint32_t *word, *vertex;
};

/*
 * wl_occurrences_of -- label tree t of the forest that wl is of once more, and keep all its labels.
 *   places  out; wl_occurrences_release
 * Vertices of a word are in ascending order. Nothing in wl changes.
 */
void wl_occurrences_of(struct wl *wl, const struct forest *forest,
                       const struct definitions *defs, uint32_t t,
                       struct wl_occurrences *places);
void wl_occurrences_release(struct wl_occurrences *places);

/*
 * distinct -- the different bags of subtrees among those of many trees, in the words of a
 * model.
 *
 * Trees with equal bags (same subtrees, as long and as often) are one row here, so that they
 * are worked on once and end with the same vector. Words are in ascending order: in which order
 * a tree came across them does not matter.
 */

#define WORD_NONE UINT32_MAX

struct distinct_entry {
    uint64_t weight_ns;
    uint32_t word, count;
};

struct distinct {
    uint32_t n, n_trees;
    size_t *first;                /* [n + 1] entries of row i are first[i] .. first[i+1]-1 */
    struct distinct_entry *entry; /* in order of words */
    uint32_t *copies;             /* [n] trees that have this bag */
    uint32_t *row;                /* [n_trees] */
    size_t entry_cap;
};

/*
 * distinct_init -- find them, in order of first appearance.
 *   word  (words of bags) what a word is called in the model, or WORD_NONE to leave it out
 * O(entries * log(entries of a tree)). Told apart by 128-bit hashes.
 */
void distinct_init(struct distinct *distinct, const struct bags *bags, const uint32_t *word);
void distinct_release(struct distinct *distinct);

#endif
