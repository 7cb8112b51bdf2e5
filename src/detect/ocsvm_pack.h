/* ocsvm_pack -- what a one-class SVM learnt as bytes, for model files. */
#ifndef SNAG_DETECT_OCSVM_PACK_H
#define SNAG_DETECT_OCSVM_PACK_H

#include "base/pack.h"
#include "detect/ocsvm.h"

/* ocsvm_model_pack -- append the model. */
void ocsvm_model_pack(const struct ocsvm_model *model, struct pack *pack);

/*
 * ocsvm_model_unpack -- read a model back; it scores as it did before.
 * Returns 0, or ERR_FORMAT when the bytes are not a model. Release in any case.
 */
int ocsvm_model_unpack(struct ocsvm_model *model, struct pack *pack);

#endif
