/*
 * question_json -- what `snag next` and the page say of a question beside its execution.
 */
#ifndef SNAG_VIEW_QUESTION_JSON_H
#define SNAG_VIEW_QUESTION_JSON_H

#include "analysis/retrain.h"
#include "learn/query.h"
#include "trace/definitions.h"

#include <jansson.h>

/* question_name -- why it is asked: "strangest" or "uncertain". */
const char *question_name(const struct question *question);

/*
 * question_to_json -- as documented in docs/formats.md.
 *   n_moved  executions that the answer moves; NULL: not known
 */
json_t *question_to_json(const struct question *question, const struct ranking *ranking,
                         const struct definitions *defs, const uint32_t *n_moved);

#endif
