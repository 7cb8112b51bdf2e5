/*
 * callstack -- the events of one location become calls.
 *
 * One stack of open calls; a call gets its row when it is entered and its duration when it is
 * left. Where enter and leave do not pair up, the damage is repaired locally (repair.h),
 * counted, and never shifts the calls behind it.
 */
#ifndef SNAG_STACK_CALLSTACK_H
#define SNAG_STACK_CALLSTACK_H

#include "stack/calls.h"
#include "trace/event.h"
#include "trace/quality.h"

#include <stdint.h>

struct callstack;

struct callstack *callstack_new(void);
void callstack_free(struct callstack *stack); /* NULL is harmless */

/*
 * callstack_begin -- start a location.
 *   calls    cleared and then filled; the caller's, must stay until callstack_end
 *   quality  what was repaired is counted here
 */
void callstack_begin(struct callstack *stack, struct calls *calls, struct quality *quality);

/* callstack_push -- the next events, in time order. O(events) as long as they pair up. */
void callstack_push(struct callstack *stack, const struct event_batch *batch);

/* callstack_end -- no more events: closes what is open, settles the repairs. */
void callstack_end(struct callstack *stack);

#endif
