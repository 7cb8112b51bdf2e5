/*
 * error_bounds -- how far the estimated enters and leaves of a trace may be off.
 *
 * A tracer that looks at the stack now and then knows of most enters and leaves only between
 * which two moments they were. It writes an estimate, and by how much that may be early or
 * late; here the larger of both is counted. Bins are a quarter of an octave wide. Calls of a
 * function that was inlined may look like one; then it says how many they may have been.
 */
#ifndef SNAG_TRACE_ERROR_BOUNDS_H
#define SNAG_TRACE_ERROR_BOUNDS_H

#include "trace/event.h"

#include <stddef.h>
#include <stdint.h>

/* error_bounds_bin -- that of a number of nanoseconds; that of 0 is that of 1. */
size_t error_bounds_bin(uint64_t ns);

/* error_bounds_join -- count a call that may have been so many, if that is several. */
void error_bounds_join(struct error_bounds *bounds, uint64_t most);

void error_bounds_add(struct error_bounds *to, const struct error_bounds *from);

/* error_bounds_count -- how many there are. */
uint64_t error_bounds_count(const struct error_bounds *bounds);

/*
 * error_bounds_quantile -- in ns, what a share of them is off by at most, a fifth too much at most.
 *   share  0 < share <= 1
 * Returns 0 if there are none.
 */
double error_bounds_quantile(const struct error_bounds *bounds, double share);

#endif
