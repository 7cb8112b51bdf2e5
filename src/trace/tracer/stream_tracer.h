/*
 * stream_tracer -- programs that run under the tracer of examples/, as they run.
 *
 * tracer:PATH listens at a Unix socket; the ranks connect to it whenever they are there, and
 * again when they come back. docs/wire.md has what they say.
 *
 * Trace time goes in steps as long as the ranks' own ticks. A step is there when every rank
 * that is connected has said that it has told all up to the step's end, or when that end is so
 * long ago that a rank which has not must be stuck; what it says later is in a later step. The
 * stream is over when all ranks have said goodbye, or when nobody has been connected for a
 * second, or the program has been started again. Then stream_again waits for its next run, at
 * the same socket. opts.connect_ms 0 waits for ever; opts.step_ns is not looked at.
 */
#ifndef SNAG_TRACE_STREAM_TRACER_H
#define SNAG_TRACE_STREAM_TRACER_H

#include "trace/stream.h"

extern const struct stream_ops stream_tracer_ops;

#endif
