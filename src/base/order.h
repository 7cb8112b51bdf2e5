/*
 * order -- which of two comes first, as qsort asks it, heaps, and the k-th of many. Equal ones
 * are equal: no order of theirs.
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

#include <stdbool.h>
#include <stddef.h>
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

/*
 * HEAP_SINK, HEAP_RISE -- put one element where it belongs in a heap: below one that is above it.
 *   heap      (n) the one that is above all others comes first; heap[at] alone may not be in its place,
 *             as it is new there
 *   is_above  of pointers to two elements; false for equal ones
 *
 *                 0
 *              /     \
 *             1       2        the children of i are 2 i + 1 and 2 i + 2
 *            / \     / \
 *           3   4   5   6
 *
 * To keep the best k of many have the worst of them on top. O(log n); heap[0] has to be there
 * even where n is 0. Macros, as an element is moved as what it is.
 */
#define HEAP_SINK(heap, at, n, is_above)                                                       \
    __extension__({                                                                            \
        __typeof__(&(heap)[0]) heap_of = (heap);                                               \
        size_t heap_at = (at), heap_n = (n);                                                   \
        __typeof__((heap)[0]) heap_moved = heap_of[heap_at];                                   \
                                                                                               \
        for (size_t child; (child = 2 * heap_at + 1) < heap_n; heap_at = child) {              \
            child += child + 1 < heap_n && is_above(&heap_of[child + 1], &heap_of[child]);     \
            if (!is_above(&heap_of[child], &heap_moved))                                       \
                break;                                                                         \
            heap_of[heap_at] = heap_of[child];                                                 \
        }                                                                                      \
        heap_of[heap_at] = heap_moved;                                                         \
    })

#define HEAP_RISE(heap, at, is_above)                                                          \
    __extension__({                                                                            \
        __typeof__(&(heap)[0]) heap_of = (heap);                                               \
        size_t heap_at = (at);                                                                 \
        __typeof__((heap)[0]) heap_moved = heap_of[heap_at];                                   \
                                                                                               \
        for (; heap_at > 0 && is_above(&heap_moved, &heap_of[(heap_at - 1) / 2]);              \
             heap_at = (heap_at - 1) / 2)                                                      \
            heap_of[heap_at] = heap_of[(heap_at - 1) / 2];                                     \
        heap_of[heap_at] = heap_moved;                                                         \
    })

/*
 * SELECT_KTH -- the k-th smallest of n numbers, k < n, the smallest being the 0th. Moves them so that x[k] is it, with
 * none larger before it (Hoare, Algorithm 65: Find, 1961; as Wirth has it). O(n) on average.
 */
#define SELECT_KTH(x, n, k)                                                                    \
    __extension__({                                                                            \
        __typeof__(&(x)[0]) kth_of = (x);                                                      \
        ptrdiff_t kth = (ptrdiff_t)(k), kth_low = 0, kth_high = (ptrdiff_t)(n)-1;              \
                                                                                               \
        while (kth_low < kth_high) {                                                           \
            __typeof__((x)[0]) kth_pivot = kth_of[kth];                                        \
            ptrdiff_t kth_i = kth_low, kth_j = kth_high;                                       \
                                                                                               \
            while (kth_i <= kth_j) {                                                           \
                __typeof__((x)[0]) kth_swap;                                                   \
                                                                                               \
                while (kth_of[kth_i] < kth_pivot)                                              \
                    kth_i++;                                                                   \
                while (kth_pivot < kth_of[kth_j])                                              \
                    kth_j--;                                                                   \
                if (kth_i > kth_j)                                                             \
                    break;                                                                     \
                kth_swap = kth_of[kth_i];                                                      \
                kth_of[kth_i++] = kth_of[kth_j];                                               \
                kth_of[kth_j--] = kth_swap;                                                    \
            }                                                                                  \
            if (kth_j < kth)                                                                   \
                kth_low = kth_i;                                                               \
            if (kth < kth_i)                                                                   \
                kth_high = kth_j;                                                              \
        }                                                                                      \
        kth_of[kth];                                                                           \
    })

#endif
