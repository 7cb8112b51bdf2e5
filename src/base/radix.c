/*
 * The least significant digit first; short arrays by insertion. Numbers of times have few
 * digits: those above the highest bit that differs are not looked at.
 */
#include "base/radix.h"

#include <string.h>

#define SHORT 48 /* numbers; sorted by insertion */
#define LONG 4096
#define MAX_BITS                                                                               \
    11 /* of a digit: the counts of 2048 buckets stay in the first-level cache                 \
        */

/* The same for both widths. */
#define DEFINE_SORT(name, type)                                                                \
    static void insert_##name(type *x, size_t n)                                               \
    {                                                                                          \
        for (size_t i = 1; i < n; i++) {                                                       \
            type value = x[i];                                                                 \
            size_t at = i;                                                                     \
                                                                                               \
            for (; at > 0 && x[at - 1] > value; at--)                                          \
                x[at] = x[at - 1];                                                             \
            x[at] = value;                                                                     \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    static void sort_digit_##name(const type *from, type *to, size_t n, unsigned shift,        \
                                  unsigned bits)                                               \
    {                                                                                          \
        size_t mask = ((size_t)1 << bits) - 1, start[(1u << MAX_BITS) + 1];                    \
                                                                                               \
        memset(start, 0, (mask + 2) * sizeof *start);                                          \
        for (size_t i = 0; i < n; i++)                                                         \
            start[(from[i] >> shift & mask) + 1]++;                                            \
        for (size_t d = 1; d <= mask; d++)                                                     \
            start[d] += start[d - 1];                                                          \
        for (size_t i = 0; i < n; i++)                                                         \
            to[start[from[i] >> shift & mask]++] = from[i];                                    \
    }                                                                                          \
                                                                                               \
    void radix_sort_##name(type *x, type *scratch, size_t n)                                   \
    {                                                                                          \
        type *from = x, *to = scratch, *swap, differ = 0;                                      \
        unsigned bits = n < LONG ? 8 : MAX_BITS;                                               \
                                                                                               \
        if (n <= SHORT) {                                                                      \
            insert_##name(x, n);                                                               \
            return;                                                                            \
        }                                                                                      \
        for (size_t i = 1; i < n; i++)                                                         \
            differ |= x[i] ^ x[0];                                                             \
        for (unsigned shift = 0; shift < 8 * sizeof(type) && differ >> shift != 0;             \
             shift += bits) {                                                                  \
            if ((differ >> shift & (((size_t)1 << bits) - 1)) == 0)                            \
                continue;                                                                      \
            sort_digit_##name(from, to, n, shift, bits);                                       \
            swap = from;                                                                       \
            from = to;                                                                         \
            to = swap;                                                                         \
        }                                                                                      \
        if (from != x)                                                                         \
            memcpy(x, from, n * sizeof *x);                                                    \
    }

DEFINE_SORT(u64, uint64_t)
DEFINE_SORT(u32, uint32_t)

void radix_sort_f64(double *x, uint64_t *scratch, size_t n)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = radix_key_of_f64(x[i]);
    radix_sort_u64(scratch, scratch + n, n);
    for (size_t i = 0; i < n; i++)
        x[i] = radix_f64_of_key(scratch[i]);
}
