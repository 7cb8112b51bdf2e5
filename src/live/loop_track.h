/*
 * loop_track -- follows one location of a program in a known loop: where in its events
 * iterations begin, and where nobody knows any more where the last one ended.
 *
 *     events   main( init  a b c  a b c  a b c  report )
 *     turns                ^begin ^next  ^next         ^cut
 *
 * It has a stack of its own of the regions that are open, which is all that it needs of calls.
 */
#ifndef SNAG_LIVE_LOOP_TRACK_H
#define SNAG_LIVE_LOOP_TRACK_H

#include "forest/loop_border.h"
#include "stack/calls.h"
#include "trace/definitions.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum loop_turn {
    LOOP_TURN_NONE,
    LOOP_TURN_BEGIN, /* an iteration begins */
    LOOP_TURN_NEXT,  /* ... and the one before it is over */
    LOOP_TURN_CUT,   /* the caller of the loop returns, with an iteration that may be over */
};

struct loop_track {
    struct loop_border border;
    uint32_t caller; /* region, or NO_CALL */
    uint32_t *open;  /* [n_open] regions of open calls */
    size_t n_open, cap;
    size_t level;    /* calls that are open around those on the level of the loop */
    bool is_in;      /* an iteration is open */
    uint64_t detail; /* of the call on the level that is open */
    struct key last[LOOP_MAX_BORDERS]; /* [n_last] the symbols before, on the level */
    uint32_t n_last;
};

/*
 * loop_track_init -- go on after some calls.
 *   calls   a step of the whole trace so far: nothing was carried (callstack_step)
 *   caller  of the loop
 */
void loop_track_init(struct loop_track *track, const struct loop_border *border,
                     uint32_t caller, const struct calls *calls,
                     const struct definitions *defs);
void loop_track_release(struct loop_track *track);

/*
 * loop_track_next -- look at events [begin, end) until there is a turn.
 *   turn  out
 * Returns the event before which it is, which has been looked at; end when there is none.
 */
size_t loop_track_next(struct loop_track *track, const struct definitions *defs,
                       const struct event_batch *batch, size_t begin, size_t end,
                       enum loop_turn *turn);

#endif
