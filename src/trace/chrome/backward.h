/*
 * backward -- when PyTorch's autograd was at work, and who waited for it.
 *
 * What goes back through a model on a GPU is done by threads of autograd's own. The thread that
 * asks them to sleeps until they have returned, and no record says so: it has a gap there, or one
 * call without calls inside (run_backward). Such threads and the one that waits are a team. The
 * waiting thread forks it when they begin, and is then in a call of ours, a barrier, to which they
 * come when they are done:
 *
 *     asks      ==op==]     [wait for autograd ..............]   [==optimizer==
 *     autograd              [evaluate_function][evaluate_function]
 *
 * What it does before and behind that without a record is its own time.
 *
 * The thread that asks is the one from which autograd's records say that they come ("fwdbwd"),
 * else the one with the number of the process. It waits where it is seen before and behind, and
 * records nothing in between but what autograd leaves to it (evaluate_function of parameters on
 * the CPU).
 */
#ifndef SNAG_TRACE_BACKWARD_H
#define SNAG_TRACE_BACKWARD_H

#include "trace/chrome/chrome_locations.h"
#include "trace/chrome/chrome_trace.h"

#include <stddef.h>
#include <stdint.h>

struct backward_span {
    uint32_t location;
    uint32_t n_threads; /* of the team, of a wait */
    int64_t begin_ns, end_ns;
};

struct backward_spans {
    struct backward_span *span; /* [n] by location and time */
    size_t n, cap;
};

struct backward {
    uint32_t region;             /* of the calls of ours, where there are any */
    struct backward_spans waits; /* calls of ours, of threads that ask */
    struct backward_spans parts; /* what a thread of autograd does of a pass */
};

/* backward_find -- of all processes; defines the region. O(n log n) of the marks of threads that
 * ask, or are autograd's. */
void backward_find(struct backward *backward, struct chrome_trace *trace,
                   const struct chrome_locations *places);
void backward_release(struct backward *backward);

/* backward_first -- the first of a location, an index; that of later ones if it has none. O(log n). */
size_t backward_first(const struct backward_spans *spans, uint32_t location);

#endif
