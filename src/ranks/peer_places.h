/*
 * peer_places -- which places there are to compare, what they are called, and what is said of
 * the workers in them.
 *
 * A worker of a pipeline is one stage of one rank. Few ranks or stages cannot be compared, but
 * their workers are many: those are judged, and a place is what its workers are (peers_lift).
 */
#ifndef SNAG_RANKS_PEER_PLACES_H
#define SNAG_RANKS_PEER_PLACES_H

#include "ranks/peers.h"

/* peer_place_of -- the place of a location, nothing but its name filled in. */
struct peer_place peer_place_of(const struct location *location, const struct peers_opts *opts);

/* peer_places_find -- all places of a forest, `of` and `at`. O(trees + locations). */
void peer_places_find(const struct scoring *scoring, const struct peers_opts *opts,
                      struct peers *out);

/*
 * peers_lift -- what is known of workers, said of the places that they belong to.
 *   workers  by PEERS_BY_WORKER, already compared
 * A place is slow when a worker in it is, then imbalanced, then unsure; waits when one waits.
 */
void peers_lift(const struct scoring *scoring, struct peers *workers,
                const struct peers_opts *opts, struct peers *out);

#endif
