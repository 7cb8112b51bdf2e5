/*
 * device_wait -- calls of a CPU that wait for its GPU (REGION_DEVICE), and who lets them go on.
 *
 *     thread   [launch] [cudaDeviceSynchronize ............. ]
 *     stream            [kernel][all-reduce ................ ]     the last operation of each
 * stream
 *
 * No trace says for certain which streams a call waits for. So a call waits for the last
 * operation on each stream of its process, or, if it names one stream or event, for the one of
 * these that ended last: of those whose middle was over when the call ended, as clocks of GPUs
 * are off by a little.
 */
#ifndef SNAG_EXPLAIN_DEVICE_WAIT_H
#define SNAG_EXPLAIN_DEVICE_WAIT_H

#include "explain/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_WAIT_MOST 256 /* streams of a process that are looked at */

struct device_operation {
    uint32_t location, row; /* of the stream; among its calls */
};

/*
 * device_wait_operations -- what a call of REGION_DEVICE waits for, at most DEVICE_WAIT_MOST.
 * Returns how many; those that a call for one stream did not need are left out.
 * O(streams x log n).
 */
size_t device_wait_operations(const struct trace_view *view, uint32_t location, uint32_t row,
                              struct device_operation operation[DEVICE_WAIT_MOST]);

/*
 * device_launch_of -- the call that launched an operation, as the trace has it: its location
 * and row. False where that is not known, or when the stream was still busy with the operation
 * before: then it began when that was over, and not because it was launched. O(log dependencies
 * + log n).
 */
bool device_launch_of(const struct trace_view *view, struct device_operation operation,
                      uint32_t *location, uint32_t *row);

#endif
