/*
 * probes -- calls that look whether a message is there, before it is received.
 *
 *     rank 1   [MPI_Probe ............][MPI_Get_count][MPI_Recv]
 *     rank 0                       [MPI_Send]
 *
 * What is waited for is in the record of the receive; the wait is in the probe. So is that of
 * MPI_Iprobe in a loop, which is one call (callstack_polls).
 */
#ifndef SNAG_EXPLAIN_PROBES_H
#define SNAG_EXPLAIN_PROBES_H

#include "explain/trace_view.h"

#include <stdint.h>

#define PROBES_MAX_BETWEEN 8u   /* calls from a probe on, to its receive */
#define PROBES_APART_NS 100000u /* time from its end to the begin of that, or */
#define PROBES_SHARE 4u         /* one in so many of what it took */

/* probes_receive -- the call that receives what a probe has found, or NO_CALL: row is no probe,
 * or something else is done behind it. O(1). */
uint32_t probes_receive(const struct trace_view *view, uint32_t location, uint32_t row);

/* probes_before -- the probe that has found what a call of MPI receives, or NO_CALL. O(1). */
uint32_t probes_before(const struct trace_view *view, uint32_t location, uint32_t row);

#endif
