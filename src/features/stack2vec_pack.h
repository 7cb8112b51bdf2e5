/* stack2vec_pack -- a stack2vec model as bytes, for run.db and for model files. */
#ifndef SNAG_FEATURES_STACK2VEC_PACK_H
#define SNAG_FEATURES_STACK2VEC_PACK_H

#include "base/pack.h"
#include "features/stack2vec.h"

/* stack2vec_pack -- append the model. Words are labels: any run can read them. */
void stack2vec_pack(const struct stack2vec *model, struct pack *pack);

/*
 * stack2vec_unpack -- read a model back; it infers as it did before.
 * Returns 0, or ERR_FORMAT when the bytes are not a model. Release in any case.
 */
int stack2vec_unpack(struct stack2vec *model, struct pack *pack);

#endif
