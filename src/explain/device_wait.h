/*
 * device_wait -- calls of a CPU that wait for its GPU (REGION_DEVICE), and who lets them go on.
 *
 *     thread   [launch] [cudaDeviceSynchronize ............. ]
 *     stream            [kernel][all-reduce ................ ]     the last of each stream
 *
 * No trace says for certain which streams a call waits for. So a call waits for the last
 * operation on each stream of its process, of those whose middle was over when the call ended, as
 * clocks of GPUs are off by a little; or, if it names one stream or event, for the one of these
 * that ended last, but for what went on when the call had ended.
 */
#ifndef SNAG_EXPLAIN_DEVICE_WAIT_H
#define SNAG_EXPLAIN_DEVICE_WAIT_H

#include "explain/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_WAIT_MAX_STREAMS 256 /* streams of a process that are looked at */

struct device_operation {
    uint32_t location, row; /* of the stream; among its calls */
};

/* device_stream_after -- the stream of a location's process that follows another one; NO_LOCATION:
 * the first one, and the end. */
uint32_t device_stream_after(const struct trace_view *view, uint32_t location, uint32_t stream);

/* device_is_operation -- a call of a stream that is work: it has none inside, and waits for no
 * GPU itself, as records of waits do that some tracers put on streams. */
bool device_is_operation(const struct trace_view *view, struct device_operation operation);

/*
 * device_wait_operations -- what a call of REGION_DEVICE waits for, at most DEVICE_WAIT_MAX_STREAMS.
 * Returns how many; those that a call for one stream did not need are left out.
 * O(streams x log n).
 */
size_t device_wait_operations(const struct trace_view *view, uint32_t location, uint32_t row,
                              struct device_operation operation[DEVICE_WAIT_MAX_STREAMS]);

/* device_last -- of n > 0 operations the one that ended last. */
struct device_operation device_last(const struct trace_view *view,
                                    const struct device_operation *operation, size_t n);

/* device_operation_before -- on the same stream; false: none. */
bool device_operation_before(const struct trace_view *view, struct device_operation operation,
                             struct device_operation *before);

/* device_operation_until -- the last operation of a stream that had begun by a time, and was
 * over by half; false: none. O(log n). */
bool device_operation_until(const struct trace_view *view, uint32_t stream, uint64_t time_ns,
                            struct device_operation *last);

/*
 * device_event_of -- the operation on another stream of the process that one seems to have
 * waited for, as after cudaStreamWaitEvent, which no trace says: it ended DEVICE_EVENT_NS
 * before the one began at most, which could have begun earlier for all that its launch and its
 * own stream say. False: none. O(streams x log n).
 */
#define DEVICE_EVENT_NS 100000u
bool device_event_of(const struct trace_view *view, struct device_operation operation,
                     struct device_operation *on);

/*
 * device_typical_ns -- what operations of a name take on a stream: the middle of all, of 65,536
 * that are spread over the run where there are more; 0: not known, of fewer than 8, or elsewhere
 * than on a stream. The first call for a stream sorts its operations: O(n log n). Thread-safe.
 */
struct device_typical;
uint64_t device_typical_ns(const struct trace_view *view, struct device_operation operation);
void device_typical_free(struct device_typical *typical);

/* What kept an operation from beginning earlier, looked at back to a time. */
struct device_path {
    bool is_launched;       /* it ends at a launch before which the GPU had nothing to do: */
    uint32_t location, row; /* the call that launched it */
    uint64_t launch_ns;     /* when that began; else from when on the GPU was at work */
    struct device_operation longest; /* of those on the path, the first one excepted */
    struct device_operation slowest; /* of those that took a quarter longer than typical, by how
                                        much; row NO_CALL: none did */
    uint64_t slow_ns;                /* what all of these took over what is typical */
};

/*
 * device_path_of -- from operation to operation, each of which began when the one before on its
 * stream, or one on another stream, had ended.
 *   from_ns  what was before does not matter
 * O(operations on the path x streams x log n), of which DEVICE_PATH_MAX_OPERATIONS are looked at.
 */
#define DEVICE_PATH_MAX_OPERATIONS 4096
void device_path_of(const struct trace_view *view, struct device_operation operation,
                    uint64_t from_ns, struct device_path *out);

#endif
