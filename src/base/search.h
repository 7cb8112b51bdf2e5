/*
 * search -- where a value belongs among ascending ones.
 *
 * Plain arrays only: what is searched by a member of its elements is searched where it lies.
 * All are O(log n), read nothing when n is 0, and stay inside the array whatever is in it.
 */
#ifndef SNAG_BASE_SEARCH_H
#define SNAG_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* lower_bound_u32, ... -- how many of x[0 .. n), ascending, are below value: the index of the
 * first that is not, n if there is none. */
static inline size_t lower_bound_u32(const uint32_t *x, size_t n, uint32_t value)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (x[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline size_t lower_bound_u64(const uint64_t *x, size_t n, uint64_t value)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (x[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* None of them may be NaN. */
static inline size_t lower_bound_f64(const double *x, size_t n, double value)
{
    const double *low = x;

    if (n == 0 || !(*x < value)) /* as many are, of measures that nearly nothing has */
        return 0;
    for (; n > 1; n -= n / 2) /* without a branch that is guessed wrong every other time */
        low += low[n / 2 - 1] < value ? n / 2 : 0;
    return (size_t)(low - x) + (*low < value);
}

/* upper_bound_u64 -- how many are not above value: the index of the first that is. */
static inline size_t upper_bound_u64(const uint64_t *x, size_t n, uint64_t value)
{
    return value < UINT64_MAX ? lower_bound_u64(x, n, value + 1) : n;
}

/*
 * interval_of_u32, ... -- in which interval a value is: the last of n that begins at or before
 * it, 0 if none does.
 *   begin  (n) ascending; of those that begin at the same value the last one is it
 */
static inline size_t interval_of_u32(const uint32_t *begin, size_t n, uint32_t value)
{
    size_t low = 0, high = n;

    while (high > low + 1) {
        size_t middle = low + (high - low) / 2;

        if (begin[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline size_t interval_of_size(const size_t *begin, size_t n, size_t value)
{
    size_t low = 0, high = n;

    while (high > low + 1) {
        size_t middle = low + (high - low) / 2;

        if (begin[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
