/* divisor -- of whole numbers. */
#ifndef SNAG_BASE_DIVISOR_H
#define SNAG_BASE_DIVISOR_H

#include <stdint.h>

/* common_divisor -- the greatest that both have; of 0 and a number that number. */
static inline uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

#endif
