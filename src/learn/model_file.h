/*
 * model_file -- what was learnt from one run, in a file of its own, for the next run.
 *
 * All that a score depends on: what is typical for the function of interest, the calibration its
 * executions were measured by, what was learnt from labels, and, where the detector was a
 * one-class SVM, the machine and the embedding its vectors are made with. Functions are kept by
 * name and subtrees by hash, so that any trace of the same program can be scored.
 *
 *     "SNAGMODL" | version u32 | 0 u32 | bytes u64 | bytes unpacked u64 | XXH3-128 | zstd
 *
 * little-endian; the hash is that of the compressed bytes, which hold sections: a name, a
 * length, that many bytes. A section that is not needed is left out.
 */
#ifndef SNAG_LEARN_MODEL_FILE_H
#define SNAG_LEARN_MODEL_FILE_H

#include "base/names.h"
#include "detect/ocsvm.h"
#include "detect/residual_score.h"
#include "features/residual.h"
#include "features/stack2vec.h"
#include "learn/logit.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_FILE_VERSION 4u

struct model {
    char *foi;         /* full name of the function */
    char *snag, *made; /* version of the program; when, UTC */
    char *trace;       /* what it was learnt from */
    uint32_t n_trees;
    uint32_t n_abnormal, n_normal; /* labels */
    char *detector, *features;     /* names: residual, or ocsvm on these features */
    struct names regions;          /* numbered as in residual */
    struct residual_model residual;
    struct calibration calibration;
    struct logit logit;         /* of residual: what labels changed; no columns for nothing */
    struct stack2vec embedding; /* of the features stack2vec; without words for others */
    struct ocsvm_model svm;     /* of ocsvm, as the labels shaped it; without rows otherwise */
    double threshold;           /* of its scores */
};

void model_release(struct model *model);

/* model_file_bytes -- (n) those of the file; free() them. */
void *model_file_bytes(const struct model *model, size_t *n);

/* model_file_write -- all or nothing, replacing what has this name. Returns 0 or ERR_IO. */
int model_file_write(const char *path, const struct model *model);

/* model_file_is -- whether a file begins as one. */
bool model_file_is(const char *path);

/*
 * model_file_read -- read and check a model. Returns 0, ERR_IO, or ERR_FORMAT for a damaged
 * file, another kind of file or a newer version, ERR_UNSUPPORTED for one that holds what an
 * earlier version learnt from labels. Release in any case.
 */
int model_file_read(const char *path, struct model *model);

/* model_foi_among -- the region that the model is about in a trace of perhaps another build
 * (region_name.h), or NAMES_NONE. */
uint32_t model_foi_among(const struct model *model, const struct definitions *defs);

/*
 * model_adopt -- number the functions as in a trace, of perhaps another build (region_name.h).
 * Those that the trace does not have are added to its definitions.
 *   region  out: the function of interest
 */
void model_adopt(struct model *model, struct definitions *defs, uint32_t *region);

#endif
