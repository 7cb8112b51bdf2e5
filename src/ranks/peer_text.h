/* peer_text -- why a place is slow, or has more to do, in words. */
#ifndef SNAG_RANKS_PEER_TEXT_H
#define SNAG_RANKS_PEER_TEXT_H

#include "explain/why.h"
#include "ranks/peers.h"

#include <stdio.h>

#define PEER_TEXT_PATHS 3u /* named of a place */

/*
 * peer_text_paths -- "step > kernel +5.1 % (29.5 ms, 98 % of its calls since 1.2 s), ...": the
 * first PEER_TEXT_PATHS of a place.
 *   why  for the names of paths of the model that the places were compared by
 */
void peer_text_paths(const struct why *why, const struct peer_place *place, FILE *out);

#endif
