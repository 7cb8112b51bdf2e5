/*
 * order -- what qsort asks: which of two comes first. Equal ones are equal: no order of theirs.
 *
 *     static int by_cost(const void *a, const void *b)
 *     {
 *         const struct place *p = a, *q = b;
 *
 *         return ORDER(q->cost_ns, p->cost_ns) ?: ORDER(p->rank, q->rank);
 *     }
 *
 * sorts by cost, the costliest first, and those of one cost by rank.
 */
#ifndef SNAG_BASE_ORDER_H
#define SNAG_BASE_ORDER_H

#include <stdint.h>

/* ORDER -- below 0 where p is less than q, above 0 where it is more. Numbers or pointers of one
 * type, no NaN; each is read twice. A macro, as each key has its own type. */
#define ORDER(p, q) (((p) > (q)) - ((p) < (q)))

/* order_u32, order_f64 -- of plain numbers, ascending; order_f64_down -- descending. */
static inline int order_u32(const void *a, const void *b)
{
    return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int order_f64(const void *a, const void *b)
{
    return ORDER(*(const double *)a, *(const double *)b);
}

static inline int order_f64_down(const void *a, const void *b)
{
    return order_f64(b, a);
}

#endif
