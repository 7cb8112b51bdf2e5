/*
 * quadtree -- how points on a plane push each other apart, in O(n log n).
 *
 * The points are sorted along a Z curve; a cell of the tree is then a range of them. For each
 * leaf one list is made of what pulls at it, far cells as one body in their centre of mass and
 * near points one by one, and the points of the leaf go through that list eight at a time.
 *
 * Source: Barnes, Hut: A hierarchical O(N log N) force-calculation algorithm, Nature 324, 1986;
 * lists per group of points: Barnes, A modified tree code, J. Comput. Phys. 87, 1990.
 */
#ifndef SNAG_PROJECT_QUADTREE_H
#define SNAG_PROJECT_QUADTREE_H

#include "base/pool.h"

#include <stddef.h>
#include <stdint.h>

struct quadtree;

/* quadtree_new -- for up to n points, 1 <= n < 2^31. */
struct quadtree *quadtree_new(size_t n, struct pool *pool);
void quadtree_free(struct quadtree *tree);

/*
 * quadtree_repel -- with q = 1 / (1 + d^2), what all other points do to each.
 *   y      (n, 2) finite
 *   theta  a cell is far when its size is below theta times its distance; 0: exact;
 *          with 0.5 the forces together are wrong by up to 2 %, with 0.3 by 0.5 %
 *   force  (n, 2) out: sum over j of q^2 (y_i - y_j)
 * Returns the sum of q over all ordered pairs of different points. Single precision inside: the
 * rounding is 1e-6 of the largest distance. The same on any number of threads.
 */
double quadtree_repel(struct quadtree *tree, const double *y, size_t n, double theta,
                      double *force);

#endif
