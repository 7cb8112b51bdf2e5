/*
 * distinct -- the different bags of subtrees among those of many trees, in the words of a
 * model.
 *
 * Trees with equal bags (same subtrees, as long and as often) are one row here, so that they
 * are worked on once and end with the same vector. Words are in ascending order: in which order
 * a tree came across them does not matter.
 */
#ifndef SNAG_FEATURES_DISTINCT_H
#define SNAG_FEATURES_DISTINCT_H

#include "features/wl.h"

#include <stddef.h>
#include <stdint.h>

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
