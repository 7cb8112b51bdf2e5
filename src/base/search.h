/*
 * search -- where a value belongs among ascending ones.
 *
 * All are O(log n), read nothing when n is 0, and stay inside the array whatever is in it.
 */
#ifndef SNAG_BASE_SEARCH_H
#define SNAG_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * FIRST_NOT -- the first index in [from, to) for which a condition does not hold; `to` where it holds
 * for all of them.
 *   i          what the index is called in the condition; of the type of `to`
 *   condition  holds up to some index, and from there on no more
 *
 *     n_before = FIRST_NOT(i, 0, n, reading[i].time_ns < time_ns);
 *
 * A macro, as each array is searched by another member of its elements: a function that is given the
 * comparison would need one more function, and a struct for what that needs, at each place.
 */
#define FIRST_NOT(i, from, to, condition)                                                      \
    __extension__({                                                                            \
        __typeof__((to) + 0) first_not_low = (from), first_not_high = (to);                    \
                                                                                               \
        while (first_not_low < first_not_high) {                                               \
            const __typeof__(first_not_low) i =                                                \
                first_not_low + (first_not_high - first_not_low) / 2;                          \
                                                                                               \
            if (condition)                                                                     \
                first_not_low = i + 1;                                                         \
            else                                                                               \
                first_not_high = i;                                                            \
        }                                                                                      \
        first_not_low;                                                                         \
    })

/* lower_bound_u32, ... -- how many of x[0 .. n), ascending, are below value: the index of the
 * first that is not, n if there is none. */
static inline size_t lower_bound_u32(const uint32_t *x, size_t n, uint32_t value)
{
    return FIRST_NOT(i, 0, n, x[i] < value);
}

static inline size_t lower_bound_u64(const uint64_t *x, size_t n, uint64_t value)
{
    return FIRST_NOT(i, 0, n, x[i] < value);
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
    size_t after = FIRST_NOT(i, 0, n, begin[i] <= value);

    return after > 0 ? after - 1 : 0;
}

static inline size_t interval_of_size(const size_t *begin, size_t n, size_t value)
{
    size_t after = FIRST_NOT(i, 0, n, begin[i] <= value);

    return after > 0 ? after - 1 : 0;
}

#endif
