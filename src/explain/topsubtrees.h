/*
 * topsubtrees -- which subtrees make an execution different from those it is most like.
 *
 * The vector of an execution minus the mean of its nearest neighbours' is how it differs from
 * them. Pushed through the output layer of stack2vec it becomes a number per subtree: as x o is
 * the log of how much there is of a subtree, the importance is, as the embedding sees it, the
 * log of how many times more (or, below 0, less) of the subtree there is here than typical.
 *
 * A call that is foreign makes every subtree foreign that reaches down to it. So a subtree is
 * left out where it contains another one that is about as important: the smallest ones say
 * where to look.
 *
 * The embedding is an approximation, in which subtrees that were strange in the same execution
 * draw each other along; so nothing is said to differ by more than it does from the neighbour
 * from which it differs most.
 *
 * Source: Xie, Xu, Mueller: A Visual Analytics Framework for the Detection of Anomalous Call
 * Stack Trees in High Performance Computing Applications, IEEE TVCG 2019, section 5.3.1.
 * Departs from it: differences keep their sign, as the output layer turns what it is given by
 * direction; their mean is taken, not their sum, which gives the unit; subtrees that only the
 * neighbours have count too.
 */
#ifndef SNAG_EXPLAIN_TOPSUBTREES_H
#define SNAG_EXPLAIN_TOPSUBTREES_H

#include "base/matrix.h"
#include "features/stack2vec.h"
#include "features/wl.h"
#include "forest/forest.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPSUBTREES_NEIGHBOURS 10u
#define TOPSUBTREES_NAME_SIZE 160u

/* What is known of all executions. */
struct topsubtrees_input {
    const struct stack2vec *embedding;
    struct matrix x; /* (forest->n_trees, dims) of this embedding */
    const struct forest *forest;
    const struct definitions *defs;
    struct wl *wl;         /* of the forest, with bags */
    uint32_t n_neighbours; /* 0 for TOPSUBTREES_NEIGHBOURS */
};

struct topsubtree {
    uint32_t word;                    /* in wl->vocab */
    uint32_t tree, vertex;            /* where one is: in the execution, or in a neighbour */
    double importance;                /* nats */
    uint32_t count;                   /* here */
    uint64_t weight_ns;               /* here: inclusive time of all of them */
    double typical_count, typical_ns; /* mean of the neighbours */
};

struct topsubtrees {
    struct topsubtree *top; /* [n] the largest |importance| first */
    size_t n;
    uint32_t *neighbour; /* [n_neighbours] the nearest first */
    uint32_t n_neighbours;
    struct wl_occurrences here; /* the roots of all subtrees of the execution */
};

/*
 * topsubtrees_init -- the subtrees of execution t and its neighbours that the embedding knows,
 * by importance.
 * None when there is no other execution. O(trees * dims + words * (dims + vertices)) for the
 * words and vertices of the execution and its neighbours.
 */
void topsubtrees_init(struct topsubtrees *tops, const struct topsubtrees_input *input,
                      uint32_t t);
void topsubtrees_release(struct topsubtrees *tops);

/*
 * topsubtrees_mark -- the vertices of execution t that belong to a subtree.
 *   word     of one of the tops
 *   is_part  [vertices of the tree] is set where they do, and left as it is elsewhere
 */
void topsubtrees_mark(const struct topsubtrees *tops, const struct topsubtrees_input *input,
                      uint32_t word, uint32_t t, bool *is_part);

/*
 * topsubtrees_name -- a subtree as "A(B x3, C(D))": alike children once, with their number.
 *   vertex  of the forest: its root
 *   degree  levels below the root that belong to it; at most 3 are drawn, "..." for the rest
 * Returns out, which ends in "..." where it is full.
 */
char *topsubtrees_name(const struct forest *forest, const struct definitions *defs,
                       uint32_t vertex, uint32_t degree, char out[TOPSUBTREES_NAME_SIZE]);

#endif
