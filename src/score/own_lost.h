/*
 * own_lost -- what executions lost by themselves, and not waiting for others.
 *
 *     rank 0   [step ........ compute ........ ]      lost 40 ms, all of it its own
 *     rank 1      [step ..... MPI_Recv ........ ]     lost 40 ms, of which it waited 38 ms
 */
#ifndef SNAG_SCORE_OWN_LOST_H
#define SNAG_SCORE_OWN_LOST_H

#include "score/scoring.h"

/*
 * own_lost_find -- set measure.own: gross, less what calls took more than usual while another
 * rank, which has data, had not come yet (waiting_others_ns).
 *   s  measured. Of whom neither its waits nor a view of the run knows how long it waited, own
 *      is NAN
 * Only of executions that lost so much that it decides is anything taken out. O(their calls,
 * and what waiting_of costs for those that took longer than usual).
 */
void own_lost_find(struct scoring *s);

#endif
