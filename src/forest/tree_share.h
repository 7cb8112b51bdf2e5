/*
 * tree_share -- who has which trees, where several processes analyse one run
 * (base/process_group.h).
 *
 * Every process has the forest of its own locations and nothing of the others'; here alone is
 * written down whose a location is. What is to be found out of all trees goes to process 0, in
 * the order of locations, as one process would have it, and what comes of that to all:
 *
 *     ns = tree_share_take(share, ns, sizeof *ns);      of all trees, on process 0
 *     if (ns)
 *         median = ...
 *     tree_share_tell(share, &median, sizeof median);
 *
 * NULL is the share of a process that has all trees: it takes what it has, and tells nobody. So
 * there is one way to analyse a run, whatever the number of processes.
 */
#ifndef SNAG_FOREST_TREE_SHARE_H
#define SNAG_FOREST_TREE_SHARE_H

#include "base/process_group.h"
#include "forest/forest.h"

#include <stddef.h>
#include <stdint.h>

struct tree_share {
    struct process_group *process_group;
    uint32_t n_locations;
    unsigned *owner; /* [n_locations] process */
    uint32_t *mine;  /* [n_mine] locations of this one, ascending */
    uint32_t n_mine;
    uint32_t *n_trees; /* [n_locations] after tree_share_count, of all */
    uint32_t n_all;    /* their sum */
};

/*
 * tree_share_init -- deal locations: each goes to the process with least to do so far. Those
 * with the same rank and thread, which are compared with themselves alone, stay together.
 *   n_calls  (locations of defs) what there is to do
 * The same on all processes; sends nothing. O(locations x processes).
 */
void tree_share_init(struct tree_share *share, struct process_group *process_group,
                     const struct definitions *defs, const uint64_t *n_calls);
void tree_share_release(struct tree_share *share);

/* tree_share_count -- the forest of the own locations is there. All must call it, as all that
 * follow. */
void tree_share_count(struct tree_share *share, const struct forest *own);

/* tree_share_size -- processes. */
unsigned tree_share_size(const struct tree_share *share);

/* tree_share_is_first -- this is process 0, which finds out what all trees say together. */
bool tree_share_is_first(const struct tree_share *share);

/*
 * tree_share_take -- process 0 gets an array of one object for each tree of all processes.
 *   own  of the own trees; to free() is what is returned
 * Returns the array on process 0, NULL on the others.
 */
void *tree_share_take(const struct tree_share *share, void *own, size_t width);

/*
 * tree_share_hand_out -- the way back: everybody gets what is said of its own trees.
 *   all  on process 0; NULL on the others
 *   own  (own trees) out
 */
void tree_share_hand_out(const struct tree_share *share, const void *all, void *own,
                         size_t width);

/* tree_share_tell -- what process 0 has in data is in everybody's then. */
void tree_share_tell(const struct tree_share *share, void *data, size_t bytes);

/* tree_share_tell_pack -- the same of a pack, which is a reader's then on the others. */
void tree_share_tell_pack(const struct tree_share *share, struct pack *pack);

/*
 * tree_share_add -- what all processes have in data, added up, is in everybody's then.
 *   add  n objects of `from` to those of `into`, in any order with the same result
 */
void tree_share_add(const struct tree_share *share, void *data, size_t n, size_t width,
                    void (*add)(void *into, const void *from, size_t n));

/* tree_share_sum_u32, ... -- what adds up whole numbers, for tree_share_add. */
void tree_share_sum_u32(void *into, const void *from, size_t n);
void tree_share_sum_u64(void *into, const void *from, size_t n);

#endif
