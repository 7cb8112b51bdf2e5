/*
 * products -- a product of matrices in which no row depends on the rows beside it.
 *
 * BLAS adds up in another order at the edge of a block than inside, so that the same row gives
 * other last digits depending on where it stands and on how many there are. What is computed of
 * an execution must not depend on which executions are looked at with it; so here each element
 * of the result is summed over the inner dimension in order. As fast as OpenBLAS for the sizes
 * we have (a few hundred by a few hundred) where the processor has AVX2 and FMA.
 */
#ifndef SNAG_BASE_PRODUCTS_H
#define SNAG_BASE_PRODUCTS_H

#include <stddef.h>

#define PRODUCTS_ROWS 4u  /* the number of rows of a must be a multiple of this, */
#define PRODUCTS_WIDTH 8u /* and that of columns of b of this */

/*
 * products -- c = a b + beta c.
 *   a  (n, depth)  b  (depth, width)  c  (n, width); all dense, row by row
 * Time O(n * depth * width). Thread-safe.
 */
void products(const float *a, size_t n, size_t depth, const float *b, size_t width, float beta,
              float *c);

#endif
