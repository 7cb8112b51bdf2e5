/*
 * flow_ends -- which ends of flows are of one message.
 *
 * A flow starts ("s"), perhaps passes by somewhere ("t"), and finishes ("f"), by its id. Each
 * stretch from one to the next is a message:
 *
 *     s --> t --> t --> f        three
 *     s --> t                    one: who wrote it never finishes
 *
 * Flows of one id that have different names are different ones, if each name begins somewhere and
 * arrives somewhere: some writers call the two ends of a flow differently. Of an id that is used
 * again the first start goes to the first finish, and so on; where there are more of one than of
 * the other, the first ones are left alone that let the fewest finishes be before their starts.
 *
 *     flow_ends_add(&ends, id, &end);       as they come
 *     flow_ends_pair(&ends, take, ctx);     the last one was added
 */
#ifndef SNAG_TRACE_FLOW_ENDS_H
#define SNAG_TRACE_FLOW_ENDS_H

#include "base/idmap.h"

#include <stddef.h>
#include <stdint.h>

struct flow_end {
    uint32_t flow; /* number of its id: set when it is added */
    uint32_t thread;
    uint64_t name; /* its hash */
    int64_t time_ns;
    uint32_t order; /* of all records, as they came */
    char phase;     /* 's', 't', 'f' */
};

/* A zeroed struct is empty and ready. */
struct flow_ends {
    struct idmap id;
    struct flow_end *end; /* [n] */
    size_t n, cap;
};

void flow_ends_release(struct flow_ends *ends);

/* flow_ends_add -- one more, of the flows with this id. O(1). */
void flow_ends_add(struct flow_ends *ends, struct key id, const struct flow_end *end);

/*
 * flow_ends_pair -- all messages, flow by flow; the ends are sorted.
 *   take  gets the two ends; one is NULL where it is not in the trace
 * O(n log n).
 */
void flow_ends_pair(struct flow_ends *ends,
                    void (*take)(void *ctx, const struct flow_end *from,
                                 const struct flow_end *to),
                    void *ctx);

#endif
