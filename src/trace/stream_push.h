/*
 * stream_push -- a stream whose events are handed in by calls, for whoever traces by other
 * means.
 *
 *     stream_push_open(&stream);
 *     region = stream_push_region(&stream, "solve");
 *     location = stream_push_location(&stream, 0, rank, 0);
 *     stream_push_event(&stream, location, time_ns, EVENT_ENTER, region);
 *     ...
 *     stream_push_step(&stream);       the next stream_next has all that came before
 *
 * Not thread-safe: one stream, one thread at a time.
 */
#ifndef SNAG_TRACE_STREAM_PUSH_H
#define SNAG_TRACE_STREAM_PUSH_H

#include "trace/stream.h"

#include <stdint.h>

/* stream_push_open -- close it with stream_close. */
void stream_push_open(struct stream *stream);

/* stream_push_region, _counter -- the number of this name, new if it was not known. */
uint32_t stream_push_region(struct stream *stream, const char *name);
uint32_t stream_push_counter(struct stream *stream, const char *name);

/* stream_push_location -- the number of a thread of a rank of a program, new if unknown. */
uint32_t stream_push_location(struct stream *stream, uint32_t program, uint32_t rank,
                              uint32_t thread);

/* stream_push_is_location, _is_region, _is_counter -- there is one of this number. */
bool stream_push_is_location(const struct stream *stream, uint32_t location);
bool stream_push_is_region(const struct stream *stream, uint32_t region);
bool stream_push_is_counter(const struct stream *stream, uint32_t counter);

/*
 * stream_push_event -- an enter or a leave of a region.
 *   location  that there is
 *   time_ns   below 2^62; one that is earlier than the one before is moved up to it and counted
 */
void stream_push_event(struct stream *stream, uint32_t location, uint64_t time_ns,
                       enum event_kind kind, uint32_t region);

/* stream_push_message -- a message was sent to, or received from, another rank. */
void stream_push_message(struct stream *stream, uint32_t location, uint64_t time_ns,
                         enum message_kind kind, uint32_t peer, uint32_t tag, uint64_t bytes);

/* stream_push_value -- a counter was read; one of the definitions. */
void stream_push_value(struct stream *stream, uint32_t location, uint64_t time_ns,
                       uint32_t counter, double value);

/* stream_push_step -- what came so far is a step. */
void stream_push_step(struct stream *stream);

/* stream_push_waiting -- events since the last step. */
size_t stream_push_waiting(const struct stream *stream);

#endif
