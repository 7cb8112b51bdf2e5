/*
 * tree_record -- an execution of a function of interest as a record: that of its root, with its
 * own calls as the window.
 *
 * Of an execution with many calls the longest are taken, whatever their depth. A call lasts at
 * least as long as each of those it makes, and where they last equally long it comes first, so
 * what is taken is a tree: no call is there without its caller.
 *
 *     main 9 ms [ a 2 ms  solve 6 ms [ b 1 ms  c 4 ms ] ]    the three longest: main solve c
 */
#ifndef SNAG_LIVE_TREE_RECORD_H
#define SNAG_LIVE_TREE_RECORD_H

#include "live/evidence.h"
#include "live/live_trees.h"

#define TREE_RECORD_MAX_CALLS 1000u
#define TREE_RECORD_MAX_MESSAGES 1000u

/*
 * tree_record_root -- tree t as a call of this step. It lost what it took beyond the median of
 * its function's executions.
 */
struct verdict tree_record_root(const struct live_foi *foi, const struct ad_step *step,
                                uint32_t t);

/*
 * tree_record_fill -- what is different from the record of a call: verdict, execution, window.
 *   record  of the root, from evidence_take_whole or evidence_take_stack; what is added is in
 *           the arena of the evidence, until the step after the next begins
 * O(vertices of the tree); lengths are compared to within a 64th.
 */
void tree_record_fill(struct evidence *evidence, const struct live_foi *foi,
                      const struct ad_step *step, uint32_t t, struct prov_record *record);

/* tree_record_normal -- the tree that was left last of those that are normal, or UINT32_MAX. */
uint32_t tree_record_normal(const struct live_foi *foi);

#endif
