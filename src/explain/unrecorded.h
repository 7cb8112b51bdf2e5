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
#ifndef SNAG_EXPLAIN_UNRECORDED_H
#define SNAG_EXPLAIN_UNRECORDED_H

#include "explain/trace_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNRECORDED_ALONE UINT32_MAX /* instance: no others are known */

struct unrecorded_call {
    uint32_t row;      /* of its location */
    uint32_t instance; /* the same for those that belong together, or UNRECORDED_ALONE */
    bool does_wait, is_waited_for;
};

/* One of those that are waited for in an instance. */
struct unrecorded_part {
    uint64_t enter_ns;
    uint32_t location;
};

struct unrecorded {
    struct unrecorded_call *call; /* [n] */
    size_t *first;                /* [n_locations + 1] those of a location, in order of time */
    size_t n;
    struct unrecorded_part *part; /* [first_part[n_instances]] */
    size_t *first_part;           /* [n_instances + 1] those of an instance, by enter_ns */
    uint32_t n_instances;
};

/*
 * unrecorded_of -- those of a view, found when first asked for; none where it is not of a whole
 * run, as they cannot be counted there. Valid until the view is released. O(calls) once where the trace has
 * such functions, else O(functions). Thread-safe.
 */
const struct unrecorded *unrecorded_of(const struct trace_view *view);
void unrecorded_free(struct unrecorded *u);

/* unrecorded_find -- a call of a location by its row, or NULL. O(log n). */
const struct unrecorded_call *unrecorded_find(const struct unrecorded *u, uint32_t location,
                                              uint32_t row);

/* unrecorded_last_before -- who of those that an instance waits for came last before a time, or
 * NULL. O(log n). */
const struct unrecorded_part *unrecorded_last_before(const struct unrecorded *u,
                                                     uint32_t instance, uint64_t time_ns);

#endif
