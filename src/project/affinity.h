/*
 * affinity -- how much t-SNE wants rows to be close: P, symmetric, sparse, summing to 1.
 *
 * p_j|i is a Gaussian of the distance over the nearest neighbours of i, as wide as makes its
 * entropy the logarithm of the perplexity; p_ij = (p_j|i + p_i|j) / 2n.
 */
#ifndef SNAG_PROJECT_AFFINITY_H
#define SNAG_PROJECT_AFFINITY_H

#include "project/nearest.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
