/*
 * peer_often -- which place takes longer in a part of its executions: too many of them to be
 * anomalies, too few to move its middle.
 *
 *     own work over what is typical     rank 0  1.00 1.02 0.99 1.01 1.00 0.98 1.02 1.00 1.01 0.99
 *                                       rank 1  1.00 1.24 0.99 1.01 1.23 0.98 1.02 1.25 1.01 0.99
 *
 * An execution is long when it is a tenth beyond the middle of its place's. How many of a place
 * are long is compared with how many of the others' are: in a noisy run all have some.
 */
#ifndef SNAG_RANKS_PEER_OFTEN_H
#define SNAG_RANKS_PEER_OFTEN_H

#include "ranks/peer_cells.h"

/*
 * peer_often_judge -- verdicts of places that are like the others in the middle, or about which
 * nothing is significant, and the paths on which their long executions take more.
 *   chance  that a place is called slow though none is, e.g. 0.005
 * O(vertices + executions log executions).
 */
void peer_often_judge(const struct scoring *scoring, const struct peer_cells *cells,
                      double chance, struct peers *peers);

#endif
