/*
 * source_chrome -- Chrome/Perfetto trace JSON, as uftrace, PyTorch and many others write it:
 * one file, or one per rank (a list, a directory, a pattern).
 *
 * What the ranks are: chrome_locations.h. Durations (X) and begin/end pairs (B, E) are calls, of
 * regions whose names have no numbers of calls (chrome_trace.h); a flow (s .. f) is a message,
 * if it is not a launch. What belongs together by name and arguments, rules say (link_rules.h).
 * Other phases are counted as ignored.
 */
#ifndef SNAG_TRACE_SOURCE_CHROME_H
#define SNAG_TRACE_SOURCE_CHROME_H

#include "trace/source.h"

extern const struct source_ops source_chrome_ops;

#endif
