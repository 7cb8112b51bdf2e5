/*
 * gaps -- what keeps operations of streams from beginning although all that they are known to
 * wait for is there.
 *
 * Where a schedule is known from rules, not all of it is recorded: operations are sent in
 * batches, or begin when their partner does, which may be much later than they could. Would
 * that be kept as it was, hardly anything would be saved by anything. So such operations are
 * held to begin as soon as they can, but for the times at which nothing at all was going on,
 * between steps: those are the run's own.
 */
#ifndef SNAG_REPLAY_GAPS_H
#define SNAG_REPLAY_GAPS_H

#include "replay/replay.h"

/*
 * gaps_close -- where all that takes part are streams whose order rules know, move the run to
 * how it would have been without gaps. Nothing may be cut. O(syncs x log syncs).
 */
void gaps_close(struct replay *r, struct syncs *s);

#endif
