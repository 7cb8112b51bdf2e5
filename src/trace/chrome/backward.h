/*
 * backward -- when PyTorch's autograd was at work, and who waited for it.
 *
 * What goes back through a model on a GPU is done by a thread of autograd's own. The thread that
 * asks for it sleeps until that has returned, and no record says so: it has a gap there, or one
 * call without calls inside (run_backward). So whatever autograd does while the other thread
 * records nothing is a team of threads, which that forks when it was last seen. Until it is seen
 * again it is in a call of ours, a barrier, to which autograd comes when it is done:
 *
 *     asks      ==op==][wait for autograd ...................][==optimizer==
 *     autograd           [evaluate_function][evaluate_function]
 *
 * The thread that asks is the one from which autograd's records say that they come ("fwdbwd"),
 * else the first of the process. It is not taken to wait while it records something, but for what
 * autograd leaves to it in the meantime (evaluate_function of parameters on the CPU).
 */
#ifndef SNAG_TRACE_BACKWARD_H
#define SNAG_TRACE_BACKWARD_H

#include "trace/chrome/chrome_locations.h"
#include "trace/chrome/chrome_trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of those of one time. */
enum backward_what {
    BACKWARD_FORK, /* who asks: these, behind all else of their time */
    BACKWARD_BEGIN,
    BACKWARD_ENTER, /* of the call of ours */
    BACKWARD_LEAVE, /* before all else of their time */
    BACKWARD_END,
    BACKWARD_JOIN,
};

/* What is to come among the events of a location. Autograd's threads begin before all else of
 * their time, and end behind it. */
struct backward_record {
    int64_t time_ns;
    uint32_t location, n_threads;
    enum backward_what what;
    bool is_behind;
};

struct backward {
    uint32_t region;                /* of the call of ours, where there are records */
    struct backward_record *record; /* [n] by location and time */
    size_t n, cap;
};

/* backward_find -- of all processes; defines the region. O(n log n) of the marks of threads that
 * ask, or are autograd's. */
void backward_find(struct backward *backward, struct chrome_trace *trace,
                   const struct chrome_locations *places);
void backward_release(struct backward *backward);

/* backward_first -- the first record of a location, an index; where those of later ones begin if
 * it has none. */
size_t backward_first(const struct backward *backward, uint32_t location);

#endif
