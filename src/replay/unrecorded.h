/*
 * unrecorded -- calls of MPI in which one waits for others, of which no trace has a record: of
 * neighbours, of one-sided communication and of files.
 *
 *     rank 0   [Win_fence       ]      fence 0: the first that each rank calls
 *     rank 1           [Win_fence]
 *
 * Who takes part is not known: the k-th calls of all who call it are taken to belong together,
 * where all call it equally often. Whether one waited for another is for their times to say.
 */
#ifndef SNAG_REPLAY_UNRECORDED_H
#define SNAG_REPLAY_UNRECORDED_H

#include "explain/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNRECORDED_ALONE UINT32_MAX /* instance: no others are known */

struct unrecorded_call {
    uint32_t row;      /* of its location */
    uint32_t instance; /* the same for those that belong together, or UNRECORDED_ALONE */
    uint32_t sync;     /* for who makes syncs of them; UINT32_MAX at first */
    bool does_wait, is_waited_for;
};

struct unrecorded {
    struct unrecorded_call *call;
    size_t *first; /* [n_locations + 1] those of a location, in order of time */
    uint32_t n_instances;
};

/* unrecorded_init -- find them; none in a part of a run, where they cannot be counted. O(calls)
 * where the trace has such functions, else O(functions). */
void unrecorded_init(struct unrecorded *u, const struct trace_view *view);
void unrecorded_release(struct unrecorded *u);

#endif
