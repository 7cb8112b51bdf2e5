/* model_store -- what was learnt, in the database of a run, packed and compressed. */
#ifndef SNAG_ANALYSIS_MODEL_STORE_H
#define SNAG_ANALYSIS_MODEL_STORE_H

#include "features/residual.h"
#include "features/stack2vec.h"

#include <stdint.h>

#include <sqlite3.h>

/* model_store_save -- keep the model of a function of interest. Returns 0 or ERR_DATABASE. */
int model_store_save(sqlite3 *db, int64_t foi, const struct residual_model *model);

/*
 * model_store_load -- the residual model of a function of interest.
 *   n_regions  the run's: numbers of regions must be below
 * Returns 0, ERR_NOT_FOUND or ERR_FORMAT. Release with residual_release in any case.
 */
int model_store_load(sqlite3 *db, int64_t foi, uint32_t n_regions,
                     struct residual_model *model);

/*
 * model_store_save_embedding -- keep a trained embedding beside those with other options, in
 * place of one with the same. Returns 0 or ERR_DATABASE.
 */
int model_store_save_embedding(sqlite3 *db, int64_t foi, const struct stack2vec *embedding);

/*
 * model_store_load_embedding -- the embedding that was trained with the options in it.
 *   embedding  nothing but the options; stays so when there is none like it
 * Returns 0, ERR_FORMAT or ERR_DATABASE. Release with stack2vec_release in any case.
 */
int model_store_load_embedding(sqlite3 *db, int64_t foi, struct stack2vec *embedding);

#endif
