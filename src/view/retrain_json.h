/* retrain_json -- a new ranking, and all there were, as JSON. */
#ifndef SNAG_VIEW_RETRAIN_JSON_H
#define SNAG_VIEW_RETRAIN_JSON_H

#include "analysis/retrain.h"
#include "view/executions.h"

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

/* execution_id_of -- the id of tree t of a forest, without the name of the function. */
void execution_id_of(char out[EXECUTION_ID_SIZE], const struct forest *forest,
                     const struct definitions *defs, uint32_t t);

/*
 * retrain_to_json -- what a retrain or its undoing changed.
 *   most  changes in it; n_changes says how many there are
 */
json_t *retrain_to_json(const struct ranking *ranking, const struct definitions *defs,
                        const struct retrain_result *result, size_t most);

/*
 * retrain_history -- all retrains of a function of interest, oldest first, as an array.
 * Returns 0 or ERR_DATABASE; *out is set only when 0 is returned.
 */
int retrain_history(sqlite3 *db, int64_t foi, json_t **out);

#endif
