/* residual_pack -- a residual model as bytes, for run.db and for model files. */
#ifndef SNAG_FEATURES_RESIDUAL_PACK_H
#define SNAG_FEATURES_RESIDUAL_PACK_H

#include "base/pack.h"
#include "features/residual.h"

/* residual_pack -- append the model. Regions are numbers: who reads must have the same ones. */
void residual_pack(const struct residual_model *model, struct pack *pack);

/*
 * residual_unpack -- read a model back.
 *   n_regions  numbers of regions must be below
 * Returns 0, or ERR_FORMAT when the bytes are not a model. Release in any case.
 */
int residual_unpack(struct residual_model *model, struct pack *pack, uint32_t n_regions);

/*
 * residual_rename -- make the numbers of the functions those of another run.
 *   to  [] new number of every number in use
 */
void residual_rename(struct residual_model *model, const uint32_t *to);

#endif
