/*
 * moments -- of numbers that come one by one or are merged: exactly of whole numbers, and of any by the
 * formulas that do not cancel.
 *
 * Source: Pebay: Formulas for Robust, One-Pass Parallel Computation of Covariances and
 * Arbitrary-Order Statistical Moments. Sandia, SAND2008-6212, section 2.
 */
#ifndef SNAG_BASE_MOMENTS_H
#define SNAG_BASE_MOMENTS_H

#include <stdint.h>

struct moments {
    uint64_t n;
    double min, max, sum, mean, m2, m3, m4; /* m: sums of powers of distances from the mean */
};

/* moments_add -- one number. O(1). Equations 2.1 to 2.4 for one value. */
void moments_add(struct moments *moments, double x);

/* moments_merge -- those of all numbers of both. O(1). */
void moments_merge(struct moments *into, const struct moments *from);

/*
 * Sums of whole numbers and of their squares, modulo 2^128: the same in any order, however they are
 * merged, and what is taken away leaves nothing behind.
 */
struct exact_sums {
    unsigned __int128 sum, square_sum;
};

static inline void exact_sums_add(struct exact_sums *sums, uint64_t value)
{
    sums->sum += value;
    sums->square_sum += (unsigned __int128)value * value;
}

/* exact_sums_remove -- as if a value had not been added. */
static inline void exact_sums_remove(struct exact_sums *sums, uint64_t value)
{
    sums->sum -= value;
    sums->square_sum -= (unsigned __int128)value * value;
}

static inline void exact_sums_merge(struct exact_sums *into, const struct exact_sums *from)
{
    into->sum += from->sum;
    into->square_sum += from->square_sum;
}

/* exact_sums_mean -- of n values; 0 of none. */
static inline double exact_sums_mean(const struct exact_sums *sums, uint64_t n)
{
    return n ? (double)sums->sum / (double)n : 0;
}

#endif
