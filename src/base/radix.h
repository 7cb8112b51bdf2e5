/*
 * radix -- sorting numbers by their digits, in time that is linear in how many there are.
 */
#ifndef SNAG_BASE_RADIX_H
#define SNAG_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * radix_sort_u64, ... -- in ascending order; of doubles, none of which may be NaN.
 *   scratch  (n) overwritten; of doubles (2 n)
 * O(n) for each digit that is not the same in all; thread-safe.
 * Source: Knuth. The Art of Computer Programming, volume 3, 5.2.5, algorithm R.
 */
void radix_sort_u64(uint64_t *x, uint64_t *scratch, size_t n);
void radix_sort_u32(uint32_t *x, uint32_t *scratch, size_t n);
void radix_sort_f64(double *x, uint64_t *scratch, size_t n);

#define RADIX_SIGN ((uint64_t)1 << 63)

/*
 * radix_key_of_f64, radix_f64_of_key -- a whole number whose order is that of doubles, and
 * back. The bits of doubles above 0 are in the order of the numbers, and come after those of
 * the ones below, which are in reverse: so the sign is turned around, and of those below 0 all
 * bits.
 */
static inline uint64_t radix_key_of_f64(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & RADIX_SIGN ? ~bits : bits | RADIX_SIGN;
}

static inline double radix_f64_of_key(uint64_t key)
{
    uint64_t bits = key & RADIX_SIGN ? key & ~RADIX_SIGN : ~key;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
