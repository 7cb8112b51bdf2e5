/* knn -- distance to the nearest neighbours: how far is a row from where rows usually are. */
#ifndef SNAG_DETECT_KNN_H
#define SNAG_DETECT_KNN_H

#include "detect/neighbours.h"

/*
 * knn_score -- mean distance of every row to its k nearest.
 *   score  (rows) out, >= 0, larger is more anomalous
 * Source: Angiulli, Pizzuti. Fast Outlier Detection in High Dimensional Spaces. PKDD 2002.
 */
void knn_score(const struct neighbours *neighbours, double *score);

#endif
