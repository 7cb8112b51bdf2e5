/* execution_items -- executions as the page lists them, for candidates and questions. */
#ifndef SNAG_SERVE_EXECUTION_ITEMS_H
#define SNAG_SERVE_EXECUTION_ITEMS_H

#include "serve/worker.h"

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * execution_items -- these trees in this order, as an array.
 *   tree  (n) each below state->n
 * Returns 0 or ERR_*; *out is set only when 0 is returned.
 */
int execution_items(struct worker *worker, struct foi_state *state, const uint32_t *tree,
                    size_t n, json_t **out);

#endif
