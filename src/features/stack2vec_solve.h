/*
 * stack2vec_solve -- the vectors of trees, with the output layer of a stack2vec model fixed.
 *
 * Minimises loss + ridge/2 |x|^2 for each tree, by a fixed number of steps of conjugate
 * gradients from x = 0. As every step depends continuously on the bag, so does the vector,
 * whether or not the last digit has converged.
 */
#ifndef SNAG_FEATURES_STACK2VEC_SOLVE_H
#define SNAG_FEATURES_STACK2VEC_SOLVE_H

#include "base/pool.h"
#include "features/distinct.h"
#include "features/stack2vec.h"

/* stack2vec_precondition -- fill model->precondition, once the output layer is there. */
void stack2vec_precondition(struct stack2vec *model);

/*
 * stack2vec_solve -- the vectors of all rows of bags.
 *   vector  (bags->n, model->n_dims) out
 * A row's vector does not depend on which others there are, nor on the number of threads.
 */
void stack2vec_solve(const struct stack2vec *model, const struct distinct *bags,
                     struct pool *pool, float *vector);

#endif
