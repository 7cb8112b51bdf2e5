/*
 * call_details -- what a call was called with, and what counters say of it, as JSON.
 *
 * Counters of its own location, and those of locations of its process that have no calls: what
 * a tracer reads of a process, a node or a GPU now and then is on locations of their own.
 */
#ifndef SNAG_SERVE_CALL_DETAILS_H
#define SNAG_SERVE_CALL_DETAILS_H

#include "base/json.h"
#include "run/columns.h"

#define CALL_DETAILS_MOST 256u /* arguments, and counters, of one call that are told */

/*
 * call_details_say -- "arguments", "n_arguments", "counters", "n_counters" of a call.
 *   location, row  of a call whose rows are in order (api_calls.c); nothing else is believed
 */
void call_details_say(const struct columns *columns, const struct definitions *defs,
                      uint32_t location, uint32_t row, json_t *json);

#endif
