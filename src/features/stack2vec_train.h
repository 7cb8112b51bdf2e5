/*
 * stack2vec_train -- learning what the words of a stack2vec model mean.
 *
 * Adam on minibatches of trees. Trees have vectors of their own meanwhile, which are dropped at
 * the end.
 */
#ifndef SNAG_FEATURES_STACK2VEC_TRAIN_H
#define SNAG_FEATURES_STACK2VEC_TRAIN_H

#include "base/pool.h"
#include "features/distinct.h"
#include "features/stack2vec.h"

/*
 * stack2vec_train -- model->output, from a random start.
 *   model  everything but output and precondition is there
 *   bags   to learn from; a row counts as often as it has copies
 * Source: Kingma, Ba: Adam: A Method for Stochastic Optimization, ICLR 2015, algorithm 1, with
 * moments of a tree's vector moving only when the tree is in the batch.
 */
void stack2vec_train(struct stack2vec *model, const struct distinct *bags, struct pool *pool);

#endif
