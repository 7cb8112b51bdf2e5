/* compare_json -- what changed between runs, as snag compare --json has it. */
#ifndef SNAG_VIEW_COMPARE_JSON_H
#define SNAG_VIEW_COMPARE_JSON_H

#include "compare/compare.h"

#include <jansson.h>

/*
 * compare_to_json -- the object that docs/formats.md describes.
 *   most  paths and ranks at most; 0: all
 */
json_t *compare_to_json(const struct comparison *c, uint32_t most);

#endif
