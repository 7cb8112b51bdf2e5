/*
 * own_lost -- what executions lost by themselves, and not while they waited for others, who may
 * have come late, or whom the tracer held up. After all is measured, and before it is scored.
 */
#ifndef SNAG_SCORE_OWN_LOST_H
#define SNAG_SCORE_OWN_LOST_H

#include "score/scoring.h"

/*
 * own_lost_find -- sets measure.own: gross, less what calls took more than typical while another rank, which has
 * data, had not come yet (waiting_others_ns); and takes out of all what calls took more while
 * the tracer held up who was waited for. Sets brief and saved to what own work took less.
 *   s  measured. Of whom neither its waits nor a view of the run knows how long it waited, own
 *      is NAN
 * Only of executions that lost so much that it decides is anything taken out. O(their calls,
 * and what waiting_of costs for those that took longer than typical).
 */
void own_lost_find(struct scoring *s);

#endif
