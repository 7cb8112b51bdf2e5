/* order -- what qsort asks for plain numbers. Equal ones are equal: no order of theirs. */
#ifndef SNAG_BASE_ORDER_H
#define SNAG_BASE_ORDER_H

#include <stdint.h>

/* order_u32, order_f64 -- ascending; order_f64_down -- descending. No NaN. */
static inline int order_u32(const void *a, const void *b)
{
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

    return (p > q) - (p < q);
}

static inline int order_f64(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

static inline int order_f64_down(const void *a, const void *b)
{
    return order_f64(b, a);
}

#endif
