/*
 * peer_few -- which of two to four places is slow: there are too few of them to know how far
 * apart such places are, but they have executed the same, again and again.
 *
 *     execution    0     1     2     3   ...  599
 *     rank 0      1.00  1.02  0.98  1.01      0.99  own work, ms
 *     rank 1      2.01  1.97  2.03  2.00      2.02  longer in 600 of 600: not by chance
 *
 * A place's own work of the i-th execution is compared with the middle of the others' of
 * theirs: a sign test over executions, those that resemble the one before counting for less.
 * What it is slow by are the paths on which it spends more than the others do.
 */
#ifndef SNAG_RANKS_PEER_FEW_H
#define SNAG_RANKS_PEER_FEW_H

#include "ranks/peer_cells.h"

#define PEER_FEW_MIN_PLACES 2u /* places that can be compared so */
#define PEER_FEW_FACTOR 1.05   /* own work over the others', to be called slow */
#define PEER_FEW_EXECUTIONS 8u /* of each place */

/* In how many of n the own time of one of several is above the middle of the others'. */
struct peer_signs {
    uint32_t n, n_above, n_same; /* n_same: those that are as the one before is */
    double factor;               /* middle of own time over the others' */
};

/*
 * peer_signs_of -- of one place.
 *   own_ns  (n_places x n) of each place one after another; NAN: it was not there
 * O(n_places * n log n).
 */
struct peer_signs peer_signs_of(const double *own_ns, uint32_t n_places, uint32_t n,
                                uint32_t place);

/* peer_signs_chance -- that so many are above though the place is like the others. */
double peer_signs_chance(const struct peer_signs *signs);

/*
 * peer_few_judge -- verdicts of all places but who waits, and the paths on which they are
 * slow; where that is time on a path that no other has, it is more to do.
 *   chance  that a place is called slow though none is, e.g. 0.005
 * Places of which one has a tenth more executions than another are not compared: all are
 * PEER_UNSURE. O(vertices + places x paths).
 */
void peer_few_judge(const struct scoring *scoring, const struct peer_cells *cells,
                    double chance, struct peers *peers);

#endif
