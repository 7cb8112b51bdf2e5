/* ranks_json -- places against their peers, as snag ranks --json and the page have them. */
#ifndef SNAG_VIEW_RANKS_JSON_H
#define SNAG_VIEW_RANKS_JSON_H

#include "explain/why.h"
#include "ranks/peers.h"

#include <jansson.h>

/*
 * ranks_to_json -- the object that docs/formats.md describes.
 *   width  stretches of time in `history`; 0: it is left out
 */
json_t *ranks_to_json(const struct scoring *scoring, const struct why *why,
                      const struct peers *peers, uint32_t width);

#endif
