/*
 * source_chrome -- Chrome/Perfetto trace JSON, as uftrace, PyTorch and many others write it.
 *
 * Processes become ranks (by a "rank N" in their name, else in the order of their pid), threads
 * become threads. Durations (X) and begin/end pairs (B, E) are calls; a flow (s .. f) is a
 * message. Other phases are counted as ignored.
 */
#ifndef SNAG_TRACE_SOURCE_CHROME_H
#define SNAG_TRACE_SOURCE_CHROME_H

#include "trace/source.h"

extern const struct source_ops source_chrome_ops;

#endif
