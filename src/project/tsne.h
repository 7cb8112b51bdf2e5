/*
 * tsne -- t-distributed stochastic neighbour embedding: rows that are near each other become
 * points that are near each other; distances between far ones mean little.
 *
 * Minimises KL(P || Q), P of struct affinity, q_ij proportional to 1 / (1 + |y_i - y_j|^2),
 * from the first two principal components, by gradient descent with momentum and gains, at
 * first with P exaggerated.
 *
 * Source: van der Maaten, Hinton: Visualizing Data using t-SNE, JMLR 9, 2008; van der Maaten:
 * Accelerating t-SNE using Tree-Based Algorithms, JMLR 15, 2014; the start and the step from
 * Kobak, Berens: The art of using t-SNE for single-cell transcriptomics, Nat. Commun. 10, 2019.
 * Departs from it: equal rows are one row, and so one point; otherwise a thousand of them would
 * be each other's only neighbours, and what else they are near to would be lost.
 */
#ifndef SNAG_PROJECT_TSNE_H
#define SNAG_PROJECT_TSNE_H

#include "project/nearest.h"
#include "project/project.h"
#include "project/quadtree.h"

#include <stddef.h>
#include <stdint.h>

/*
 * affinity -- how much t-SNE wants rows to be close: P, symmetric, sparse, summing to 1.
 *
 * p_j|i is a Gaussian of the distance over the nearest neighbours of i, as wide as makes its
 * entropy the logarithm of the perplexity; p_ij = (p_j|i + p_i|j) / 2n.
 */

/* Row i has the entries first[i] .. first[i+1]-1, with p_ij at i as at j. */
struct affinity {
    size_t n;
    size_t *first;  /* [n + 1] */
    uint32_t *to;   /* [first[n]] */
    float *p;       /* [first[n]] > 0 */
    double entropy; /* sum of p ln p */
};

/*
 * affinity_row -- p_j|i of one row.
 *   square      (k) squared distances of its neighbours, ascending
 *   perplexity  1 <= perplexity; what k neighbours cannot have gives equal shares
 *   p           (k) out, summing to 1
 * O(k) times about 30.
 */
void affinity_row(const double *square, size_t k, double perplexity, double *p);

/*
 * affinity_init -- P from the neighbours of all rows. O(rows k). Ordered by row, then by the
 * neighbours of the row, nearest first, then by those it is a neighbour of.
 */
void affinity_init(struct affinity *a, const struct nearest *nearest, double perplexity,
                   struct pool *pool);
void affinity_release(struct affinity *a);

#define TSNE_ITERATIONS 1000
#define TSNE_THETA 0.5

/* What the gradient needs and is. */
struct tsne_forces {
    double *pull; /* (n, 2) sum over j of p_ij q (y_i - y_j), q = 1 / (1 + d^2) */
    double *push; /* (n, 2) sum over j of q^2 (y_i - y_j) */
    double *log1; /* [n] sum over j of p_ij ln(1 + d^2) */
    double sum_q; /* over all ordered pairs; the gradient is 4 (pull - push / sum_q) */
};

void tsne_forces_init(struct tsne_forces *f, size_t n);
void tsne_forces_release(struct tsne_forces *f);

/*
 * tsne_forces_at -- at the points y (a->n, 2).
 *   with_cost  also log1
 * O(entries of P + n log n).
 */
void tsne_forces_at(struct tsne_forces *f, const struct affinity *a, const double *y,
                    double theta, bool with_cost, struct quadtree *tree, struct pool *pool);

/* tsne_cost -- KL(P || Q) in nats, of forces with cost. */
double tsne_cost(const struct tsne_forces *f, const struct affinity *a);

/*
 * tsne_run -- see project_run. The perplexity is lowered to a third of the number of different
 * rows; three of them or fewer are placed by their principal components. Time, with n different
 * rows: nearest_find, then about n (3 perplexity + 60 log n) ns per iteration and thread.
 */
int tsne_run(struct matrix x, const struct project_opts *opts, double *points,
             struct project_result *result);

#endif
