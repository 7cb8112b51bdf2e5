/*
 * live -- live output: what is recorded goes to a reader over a local socket, while it happens.
 *
 *     hooks --records--> chunk --ring_put--> ring --+
 *                          |                        +--> a thread of ours --frames--> socket
 *                          +--------- peek ---------+
 *
 * The program never waits for the reader. A thread of the tracer empties the rings a hundred
 * times a second, and at every tick (SNAG_TRACER_LIVE_MS, 100 by default) also takes what is in
 * chunks that are not full, sends a frame per thread, and says that this was all up to then.
 * What does not fit the ring (the sender is too slow) or the queue in front of the socket (the
 * reader is) is dropped, chunks and frames at a time, and counted in the next frame that goes.
 *
 * The reader may be there before or after the program, and go and come back: a new connection
 * begins with all definitions. It listens to one program at a time: one that is not wanted says
 * so on stderr, once, and tries again after 1, 2, 4, and then every 8 seconds.
 */
#ifndef SNAG_TRACER_LIVE_H
#define SNAG_TRACER_LIVE_H

#include "recorder.h"

#include <stdbool.h>
#include <stdint.h>

extern const struct sink live_sink;

/* live_sink_beside -- a sink that hands to another one, and to live output. */
const struct sink *live_sink_beside(const struct sink *other);

/* Which process this is. */
struct live_process {
    uint32_t rank, n_ranks;
    uint64_t job;        /* the same in all ranks, and in no other program's */
    int64_t realtime_ns; /* what has to be added to the clock for the time since 1970 */
};

/* live_start -- start the thread. Returns false if SNAG_TRACER_LIVE asks for none. */
bool live_start(const struct live_process *place);

/* live_stop -- recording has stopped: send the rest, a second at most, and say goodbye. */
void live_stop(void);

#endif
