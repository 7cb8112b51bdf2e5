/* cause_json -- a cause chain as JSON. */
#ifndef SNAG_VIEW_CAUSE_JSON_H
#define SNAG_VIEW_CAUSE_JSON_H

#include "explain/cause.h"

#include <jansson.h>

/* cause_region_at -- the function at this depth of the call path of a link. O(log calls). */
const struct region *cause_region_at(const struct trace_view *view,
                                     const struct cause_link *link, uint32_t depth);

/* cause_to_json -- the array described in explain/cause.h. */
json_t *cause_to_json(const struct trace_view *view, const struct cause *cause);

#endif
