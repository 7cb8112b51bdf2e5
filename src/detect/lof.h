/* lof -- local outlier factor: how much emptier is it around a row than around its neighbours.
 */
#ifndef SNAG_DETECT_LOF_H
#define SNAG_DETECT_LOF_H

#include "detect/neighbours.h"

/*
 * lof_score -- local outlier factor of every row, against the rows themselves.
 *   neighbours  of the rows (neighbours_find)
 *   score       (rows) out; about 1 for an inlier, larger is more anomalous
 * Time and memory O(rows k). Thread-safe.
 * Source: Breunig, Kriegel, Ng, Sander. LOF: Identifying Density-Based Local Outliers.
 * SIGMOD 2000, definitions 3-7. Departs from it: ties at the k-distance are cut at k, and a
 * density is at most 1e10, as in scikit-learn, whose values these are.
 */
void lof_score(const struct neighbours *neighbours, double *score);

#endif
