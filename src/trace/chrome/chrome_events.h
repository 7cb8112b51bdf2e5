/*
 * chrome_events -- the events of one location, made of its marks as they are asked for.
 *
 * Two calls that begin at the same time are nested as the longer around the shorter. Of two
 * that cross, the one is cut that loses less: the first where the second begins, or the second
 * where the first ends. No call takes longer than the trace says. What a call takes part in
 * (links.h) is an event in it: a send at its beginning, a receive or a collective at its end.
 */
#ifndef SNAG_TRACE_CHROME_EVENTS_H
#define SNAG_TRACE_CHROME_EVENTS_H

#include "trace/chrome/backward.h"
#include "trace/chrome/chrome_locations.h"
#include "trace/chrome/chrome_trace.h"
#include "trace/source.h"

#include <stddef.h>
#include <stdint.h>

struct chrome_events;

/* chrome_events_new -- for one thread of ours. What it is given must outlive it. */
struct chrome_events *chrome_events_new(const struct chrome_trace *trace,
                                        const struct chrome_locations *places,
                                        const struct backward *backward);
void chrome_events_free(struct chrome_events *events);

/* chrome_events_begin -- start location l of the definitions. */
void chrome_events_begin(struct chrome_events *events, uint32_t l);

/* chrome_events_next -- append at most `most` events; returns how many, 0 at the end. */
size_t chrome_events_next(struct chrome_events *events, struct event_batch *batch, size_t most,
                          struct quality *quality);

#endif
