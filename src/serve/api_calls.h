/*
 * api_calls -- what a call was called with, and what counters say of it, as JSON.
 *
 * Counters of its own location, and those of locations of its process that have no calls: what
 * a tracer reads of a process, a node or a GPU now and then is on locations of their own.
 */
#ifndef SNAG_SERVE_API_CALLS_H
#define SNAG_SERVE_API_CALLS_H

#include "base/json.h"
#include "run/columns.h"

#define MAX_CALL_DETAILS 256u /* arguments, and counters, of one call that are told */

/*
 * call_details_check_row -- see that what is used to find the way from a row to its callers is
 * in order.
 *   row  < calls->n
 * Returns 0 or ERR_FORMAT. O(depth x log n).
 */
int call_details_check_row(const struct call_view *calls, uint32_t row, uint32_t n_regions);

/* call_details_is_recorder -- whether a location reads counters for its process, and does
 * nothing else. */
bool call_details_is_recorder(const struct columns *columns, uint32_t location);

#endif
