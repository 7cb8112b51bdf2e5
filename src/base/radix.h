/*
 * radix -- sorting numbers by their digits, in time that is linear in how many there are.
 */
#ifndef SNAG_BASE_RADIX_H
#define SNAG_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

/*
 * radix_sort_u64, ... -- in ascending order; of doubles, none of which may be NaN.
 *   scratch  (n) overwritten; of doubles (2 n)
 * O(n) for each digit that is not the same in all; thread-safe.
 * Source: Knuth. The Art of Computer Programming, volume 3, 5.2.5, algorithm R.
 */
void radix_sort_u64(uint64_t *x, uint64_t *scratch, size_t n);
void radix_sort_u32(uint32_t *x, uint32_t *scratch, size_t n);
void radix_sort_f64(double *x, uint64_t *scratch, size_t n);

#endif
