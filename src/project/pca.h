/*
 * pca -- the directions in which rows differ most.
 *
 * Signs are chosen so that the largest entry of every direction is positive.
 */
#ifndef SNAG_PROJECT_PCA_H
#define SNAG_PROJECT_PCA_H

#include "project/project.h"

/* The first k principal components of some rows. */
struct pca {
    size_t k, cols;
    double *mean;      /* [cols] */
    double *direction; /* (k, cols) orthonormal; 0 beyond the rank */
    double *variance;  /* [k] along each, descending; the sum of squares over the rows */
    double total;      /* of all columns */
};

/*
 * pca_fit -- find the components.
 *   x     (rows, cols)
 *   k     1 <= k
 *   seed  of the start of the iteration, which is only used when rows and cols are many
 * Returns 0, or ERR_RANGE when squares of the entries are too large to add. Time O(rows cols
 * min(rows, cols)) where one of them is below 1,000, and O(rows cols k) per step of a subspace
 * iteration otherwise.
 */
int pca_fit(struct pca *pca, struct matrix x, size_t k, uint64_t seed);
void pca_release(struct pca *pca);

/* pca_place -- coordinates (rows, k) of rows; equal rows get equal bytes. O(rows cols k). */
void pca_place(const struct pca *pca, struct matrix x, double *out);

/* pca_run -- the first two components, see project_run. on_step is not called. */
int pca_run(struct matrix x, const struct project_opts *opts, double *points,
            struct project_result *result);

#endif
