/*
 * arrows -- the messages of a window, and which of its calls had to wait for which others, as
 * a timeline draws them: not more than wanted, and chosen so that every pair of locations and
 * every part of the window has some.
 *
 * The window is cut into slots. Messages of a pair of locations that were sent in the same
 * slot are one heap; each heap gives equally many, those that have fewer give all. From a heap
 * evenly spaced ones are taken.
 *
 *     thread   [cudaLaunchKernel]                     a launch: from where one began to where
 *                 \______                             the other did; from the end of a call
 *     stream             \> [kernel]  --> [kernel]    where it had to be over
 */
#ifndef SNAG_SERVE_ARROWS_H
#define SNAG_SERVE_ARROWS_H

#include "base/shared_cache.h"
#include "run/columns.h"
#include "run/levels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARROWS_ALL 200000u    /* records in a window that are all looked at */
#define ARROWS_SAMPLED 65536u /* of more, as many */

struct arrows_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    const uint32_t *location;  /* (n_locations) different ones, which exist */
    uint32_t n_locations;
};

struct arrow {
    double send_ns, recv_ns, bytes;
    uint32_t from, to, tag, send_call, recv_call;
};

struct arrows {
    struct arrow *arrow; /* [n] by send_ns */
    size_t n;
    uint64_t total;   /* messages with an end in the window, both ends on the locations */
    bool is_estimate; /* total is; and messages sent before the window are left out */
};

/*
 * arrows_of -- up to `most` messages of a window.
 *   arrows  zeroed
 *   levels  of these columns, or NULL
 * O(records in the window), and never more than ARROWS_ALL of them.
 */
void arrows_of(struct arrows *arrows, const struct columns *columns,
               const struct levels *levels, const struct arrows_window *window, size_t most);
void arrows_release(struct arrows *arrows);

/* arrows_from -- the first message of a location whose record was written at or after a time.
 */
size_t arrows_from(const struct columns *columns, const struct levels *levels,
                   uint32_t location, uint64_t time_ns);

/* arrows_location_of -- where a message is, by its row among all of them. O(log locations). */
uint32_t arrows_location_of(const struct columns *columns, uint64_t row);

#define ARROWS_BLOCK 64u /* neighbouring records that are looked at where not all are */

/*
 * arrows_block -- where the one block begins that is looked at of the next `step` blocks: the
 * same for the same rows, and without a pattern.
 *   first  the location's first message of all
 *   at     of the location
 */
uint64_t arrows_block(uint64_t first, uint64_t at, uint64_t step);

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
