/*
 * collective_waits -- the collective operations of a window as a timeline draws them: who took
 * part, who was waited for, and how long everybody waited.
 *
 *     location 0   [==== barrier ====]      waits from its begin ...
 *     location 1        [= barrier ==]
 *     location 2              [barrier]     ... to that of the last to arrive
 *
 * Who waits for whom depends on the operation: for all in a barrier or an all-to-all, for the
 * root in a broadcast; in a reduction only the root waits. Of an operation that no order
 * follows from (a scan) it is seen: nobody left it before all were in, or nobody is said to
 * have waited.
 *
 * The columns are as somebody wrote them: nothing in them is believed.
 */
#ifndef SNAG_SERVE_COLLECTIVE_WAITS_H
#define SNAG_SERVE_COLLECTIVE_WAITS_H

#include "run/columns.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLECTIVE_WAITS_ALL 200000u     /* records in a window that are all looked at */
#define COLLECTIVE_WAITS_LOOKUPS 400000u /* parts that are looked for in all */

/* What one location did in it. */
struct collective_part {
    uint32_t location, call; /* call: a row */
    uint64_t begin_ns, end_ns, wait_ns;
    uint64_t sent_bytes, received_bytes;
    uint32_t met; /* of which it is a part */
};

/* One that took place. */
struct collective_met {
    uint32_t region, comm, kind;       /* kind: enum collective_kind */
    uint32_t n_members;                /* of the communicator; 0 where it is not known */
    uint32_t n_known;                  /* who have a record */
    uint32_t last_location, last_call; /* the last to arrive; the root where it is waited for */
    uint64_t last_ns;                  /* when that one arrived */
    uint64_t wait_ns;                  /* of all parts together */
    uint64_t sent_bytes, received_bytes; /* likewise */
};

struct collective_waits {
    struct collective_met *met; /* [n] by last_ns */
    size_t n;
    struct collective_part *part; /* [n_parts] those of one after another */
    size_t n_parts, part_cap;
    uint64_t total;   /* of which a location that was asked for has a record in the window */
    bool is_estimate; /* total is */
};

struct collective_waits_window {
    uint64_t begin_ns, end_ns; /* begin < end */
    const uint32_t *location;  /* (n_locations) different ones, which exist */
    uint32_t n_locations;
};

/*
 * collective_waits_of -- up to `most` collectives of a window, spread evenly over it. Their
 * parts are those on the locations of the window; what is said of all counts the others, too.
 *   collectives  zeroed
 * O(records in the window), never more than COLLECTIVE_WAITS_ALL, and log n for each part of
 * those that are chosen, never more than COLLECTIVE_WAITS_LOOKUPS.
 */
void collective_waits_of(struct collective_waits *collectives, const struct columns *columns,
                         const struct definitions *defs,
                         const struct collective_waits_window *window, size_t most);

/*
 * collective_waits_of_call -- the one that a call takes part in, with all of its parts, those
 * that waited longest first.
 *   call  a row of the location, which exists
 * Returns false when it takes part in none.
 */
bool collective_waits_of_call(struct collective_waits *collectives,
                              const struct columns *columns, const struct definitions *defs,
                              uint32_t location, uint32_t call);
void collective_waits_release(struct collective_waits *collectives);

#endif
