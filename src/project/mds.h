/*
 * mds -- metric multidimensional scaling: distances on the plane as near as can be to those of
 * the rows.
 *
 * Minimises the raw stress, the sum over pairs of (distance of points - distance of rows)^2, by
 * majorization (SMACOF), which never makes it worse, from the principal components. What is
 * reported is stress-1, its root over that of the sum of squared distances of rows.
 * Above MDS_EXACT different rows this is done for MDS_LANDMARKS of them, chosen at random; each
 * of the others is then placed, alone, by its distances to those.
 *
 * Source: de Leeuw, Mair: Multidimensional Scaling Using Majorization: SMACOF in R, J. Stat.
 * Software 31, 2009; landmarks after de Silva, Tenenbaum: Sparse multidimensional scaling using
 * landmark points, 2004. Departs from it: others are placed by stress, not by a linear map;
 * equal rows count once.
 */
#ifndef SNAG_PROJECT_MDS_H
#define SNAG_PROJECT_MDS_H

#include "project/project.h"

#define MDS_EXACT 2000
#define MDS_LANDMARKS 500
#define MDS_ITERATIONS 300

/*
 * mds_run -- see project_run. Ends before the last iteration when the stress stands still.
 * O(n^2) per iteration up to MDS_EXACT rows, O(n MDS_LANDMARKS (cols + 50)) above; the cost is
 * then the stress of the landmarks.
 */
int mds_run(struct matrix x, const struct project_opts *opts, double *points,
            struct project_result *result);

#endif
