/*
 * calls -- all finished calls of one location, as columns, and its messages and collectives.
 *
 * Calls are in preorder: a call comes before all that happened inside it, and the calls inside
 * call i are the rows i+1 .. i+subtree_len[i]-1.
 *
 *     main -- step -- send        row     0     1     2     3     4
 *          \       \- wait        region  main  step  send  wait  step
 *           \ step                depth   0     1     2     2     1
 *                                 len     5     3     1     1     1
 *
 * The caller of a call is the last row before it that is one less deep; it is not kept.
 */
#ifndef SNAG_STACK_CALLS_H
#define SNAG_STACK_CALLS_H

#include "trace/event.h"

#include <stddef.h>
#include <stdint.h>

#define DEEPEST_CALL UINT16_MAX

struct calls {
    uint32_t n;
    size_t cap;
    uint64_t *enter_ns;     /* [n] never decreasing */
    uint64_t *inclusive_ns; /* [n] leave - enter */
    uint32_t *region;       /* [n] */
    uint32_t *subtree_len;  /* [n] self included, >= 1 */
    uint16_t *depth;        /* [n] 0 for a root */

    struct message *message; /* [n_messages] in the order of their records */
    size_t n_messages, message_cap;
    struct collective *collective;
    size_t n_collectives, collective_cap;

    uint64_t first_ns, last_ns; /* of any event; first > last if there was none */
};

/* The same, read-only, wherever it lies. */
struct call_view {
    uint32_t n;
    const uint64_t *enter_ns, *inclusive_ns;
    const uint32_t *region, *subtree_len;
    const uint16_t *depth;
    const uint32_t *by_depth;    /* [n] rows grouped by depth, each in time order; or NULL */
    const uint64_t *depth_start; /* [n_depths + 1] into by_depth */
    uint32_t n_depths;
    const struct message *message;
    size_t n_messages;
    const struct collective *collective;
    size_t n_collectives;
};

/* calls_view -- of calls in memory; without the order by depth. */
struct call_view calls_view(const struct calls *calls);

/*
 * calls_callers -- the caller of every row.
 *   caller  (calls->n) out: a row, < own row, or NO_CALL for a root
 * O(n).
 */
void calls_callers(const struct call_view *calls, uint32_t *caller);

/*
 * calls_caller -- the caller of one row, or NO_CALL.
 * O(log n) with the order by depth; without it, O(calls between it and its caller).
 */
uint32_t calls_caller(const struct call_view *calls, uint32_t row);

void calls_release(struct calls *calls);

/* calls_clear -- forget all rows, keep the memory for the next location. */
void calls_clear(struct calls *calls);

/* calls_reserve -- make room for n more calls. */
void calls_reserve(struct calls *calls, size_t n);

#endif
