/*
 * hidden_waits -- executions that waited longer than is typical for nobody knows whom, and for
 * whom that may have been.
 *
 *     rank 2   [edit_record ............]
 *     rank 3   [   MPI_Win_lock .........]      no record says who holds the lock
 */
#ifndef SNAG_ANALYSIS_HIDDEN_WAITS_H
#define SNAG_ANALYSIS_HIDDEN_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hidden_wait {
    uint64_t enter_ns, leave_ns; /* of the execution */
    int64_t ns;                  /* how long; or what an execution lost that is asked about */
    uint32_t location, incident; /* of it */
};

/* A zeroed struct is empty and ready. */
struct hidden_waits {
    struct hidden_wait *wait; /* [n] by when they began, once they are in order */
    uint32_t n;
    uint64_t longest_ns; /* of the executions */
    size_t cap;
};

/* hidden_waits_add -- one more; all of them before hidden_waits_order. */
void hidden_waits_add(struct hidden_waits *w, const struct hidden_wait *wait);
void hidden_waits_order(struct hidden_waits *w);
void hidden_waits_release(struct hidden_waits *w);

/*
 * hidden_waits_behind -- the longest of them elsewhere while an execution was on its way, in ns; 0: none.
 *   of   that execution
 *   but  none of this incident
 * Of those that overlap 4,096 are looked at. O(log n + these).
 */
int64_t hidden_waits_behind(const struct hidden_waits *w, const struct hidden_wait *of,
                            uint32_t but);

#endif
