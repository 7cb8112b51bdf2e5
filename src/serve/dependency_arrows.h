/*
 * dependency_arrows -- which calls of a window had to wait for which others, as arrows between
 * them: who launched what runs on a stream of a GPU, and what the order of calls is known to
 * be.
 *
 *     thread   [cudaLaunchKernel]                     a launch: from where one began to where
 *                 \______                             the other did; from the end of a call
 *     stream             \> [kernel]  --> [kernel]    where it had to be over
 *
 * The run has dependencies in no order. The first who asks sorts them, by either end, for all
 * threads: 32 bytes each.
 */
#ifndef SNAG_SERVE_DEPENDENCY_ARROWS_H
#define SNAG_SERVE_DEPENDENCY_ARROWS_H

#include "base/shared_cache.h"
#include "run/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEPENDENCY_ARROWS_ALL 200000u   /* ends in a window that are all looked at */
#define DEPENDENCY_ARROWS_OF_CALL 4096u /* ... and in a call, those at its begin first */

struct dependency_ends;

/* dependency_ends_take -- the dependencies of a run by their ends; give them back. Thread-safe.
 * O(n log n) the first time. */
const struct dependency_ends *dependency_ends_take(struct shared_cache *cache,
                                                   const struct columns *columns);
void dependency_ends_give_back(struct shared_cache *cache, const struct dependency_ends *ends);

struct dependency_arrow {
    uint64_t from_ns, to_ns; /* of the ends: an end of a call where `kind` says so */
    uint32_t from, to;       /* locations */
    uint32_t from_call, to_call;
    enum dependency_kind kind;
};

struct dependency_arrows {
    struct dependency_arrow *arrow; /* [n] by from_ns */
    size_t n;
    uint64_t total; /* with an end in the window, both on its locations; n or more */
    bool is_estimate;
};

struct dependency_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    const uint32_t *location;  /* (n_locations) different ones, which exist */
    uint32_t n_locations;
    uint32_t n_regions; /* of the run */
};

/*
 * dependency_arrows_of -- up to `most` of a window, evenly spread over it.
 *   arrows  zeroed
 * Those whose calls are not found are left out. O(log n + ends in the window), and never more
 * than DEPENDENCY_ARROWS_ALL of these.
 */
void dependency_arrows_of(struct dependency_arrows *arrows, const struct columns *columns,
                          const struct dependency_ends *ends,
                          const struct dependency_window *window, size_t most);

/*
 * dependency_arrows_of_call -- those of one call itself, by from_ns.
 *   row  of a call that was checked (call_details_check_row)
 */
void dependency_arrows_of_call(struct dependency_arrows *arrows, const struct columns *columns,
                               const struct dependency_ends *ends, uint32_t location,
                               uint32_t row, uint32_t n_regions);
void dependency_arrows_release(struct dependency_arrows *arrows);

/* dependency_kind_name -- "launch", "order", "wait". */
const char *dependency_kind_name(enum dependency_kind kind);

#endif
