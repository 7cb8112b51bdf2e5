/*
 * offsets -- how far this rank's clock is from rank 0's, whose clock is the archive's.
 *
 * Cristian's method: of many short exchanges with rank 0, that with the shortest round trip
 * says best what the time was there in the middle of it. It is right to half that round trip;
 * an offset smaller than this is not told from none and is taken as none, which is the truth
 * where ranks share a machine and its clock.
 * Source: Cristian. Probabilistic clock synchronization. Distributed Computing 3, 1989.
 */
#ifndef SNAG_TRACER_OFFSETS_H
#define SNAG_TRACER_OFFSETS_H

#include "trace/tracer/tracer_state.h"

/* offset_measure -- by all of the team; one rank after the other, some 10 ms at most each. */
struct state_offset offset_measure(void);

#endif
