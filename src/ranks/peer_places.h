/*
 * peer_places -- which places there are to compare, what they are called, what is said of the
 * workers in them, and why one is slow, in words.
 *
 * A worker of a pipeline is one stage of one rank. Few ranks or stages cannot be compared, but
 * their workers are many: those are judged, and a place is what its workers are (peers_lift).
 */
#ifndef SNAG_RANKS_PEER_PLACES_H
#define SNAG_RANKS_PEER_PLACES_H

#include "explain/why.h"
#include "ranks/peers.h"

#include <stdio.h>

/* peer_places_find -- all places of a forest, `of` and `at`. O(trees + locations). */
void peer_places_find(const struct scoring *scoring, const struct peers_opts *opts,
                      struct peers *out);

/* peer_places_compare -- peers_ns of all, once their own work is known. */
void peer_places_compare(struct peers *peers);

/*
 * peers_lift -- what is known of workers, said of the places that they belong to.
 *   workers  by PEERS_BY_WORKER, already compared
 * A place is slow when a worker in it is, then imbalanced, then inconclusive; waits when one waits.
 */
void peers_lift(const struct scoring *scoring, struct peers *workers,
                const struct peers_opts *opts, struct peers *out);

#define PEER_TEXT_PATHS 3u /* named of a place */

/*
 * peer_text_paths -- "step > kernel +5.1 % (29.5 ms, 98 % of its calls since 1.2 s), ...": the
 * first PEER_TEXT_PATHS of a place.
 *   why  for the names of paths of the model that the places were compared by
 */
void peer_text_paths(const struct why *why, const struct peer_place *place, FILE *out);

#endif
