/*
 * stream_replay -- a finished trace as if its program ran now.
 *
 * Time goes in steps of stream_opts.step_ns, or shorter ones where those would have more than
 * half a million events or so; steps in which nothing happens are left out. With a speed, a
 * step is there when the program would have come to its end.
 */
#ifndef SNAG_TRACE_STREAM_REPLAY_H
#define SNAG_TRACE_STREAM_REPLAY_H

#include "trace/stream.h"

extern const struct stream_ops stream_replay_ops;

#endif
