/* live_stat -- moments of whole numbers, exact in any order: what ranks and regions are ranked
 * by.
 */
#ifndef SNAG_MONITOR_LIVE_STAT_H
#define SNAG_MONITOR_LIVE_STAT_H

#include "base/moments.h"

#include <math.h>
#include <stdint.h>

struct live_stat {
    uint64_t n, minimum, maximum; /* minimum and maximum are 0 while n is */
    uint64_t last, before_last;
    struct exact_sums sums;
};

static inline void live_stat_add(struct live_stat *stat, uint64_t value)
{
    stat->minimum = stat->n == 0 || value < stat->minimum ? value : stat->minimum;
    stat->maximum = value > stat->maximum ? value : stat->maximum;
    stat->before_last = stat->last;
    stat->last = value;
    stat->n++;
    exact_sums_add(&stat->sums, value);
}

/* live_stat_remove -- as if a value had not been added; extremes and the last ones stay. */
static inline void live_stat_remove(struct live_stat *stat, uint64_t value)
{
    stat->n--;
    exact_sums_remove(&stat->sums, value);
}

/* live_stat_merge -- as if the values of from had been added to into, in their order. */
static inline void live_stat_merge(struct live_stat *into, const struct live_stat *from)
{
    if (from->n == 0)
        return;
    into->minimum =
        into->n == 0 || from->minimum < into->minimum ? from->minimum : into->minimum;
    into->maximum = from->maximum > into->maximum ? from->maximum : into->maximum;
    into->before_last = from->n > 1 ? from->before_last : into->last;
    into->last = from->last;
    into->n += from->n;
    exact_sums_merge(&into->sums, &from->sums);
}

static inline double live_stat_mean(const struct live_stat *stat)
{
    return exact_sums_mean(&stat->sums, stat->n);
}

/* live_stat_deviation -- that of the population; 0 while empty. */
static inline double live_stat_deviation(const struct live_stat *stat)
{
    long double mean = stat->n ? (long double)stat->sums.sum / (long double)stat->n : 0;
    long double variance =
        stat->n ? (long double)stat->sums.square_sum / (long double)stat->n - mean * mean : 0;

    return variance > 0 && stat->minimum < stat->maximum ? (double)sqrtl(variance) : 0;
}

#endif
