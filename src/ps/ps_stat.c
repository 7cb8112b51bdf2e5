/* Sums of doubles stay finite: what comes from outside may be as large as it likes. */
#include "ps/ps_stat.h"

#include <assert.h>
#include <float.h>
#include <math.h>

static double clamp(double value)
{
    return isnan(value) ? 0 : fmin(fmax(value, -DBL_MAX), DBL_MAX);
}

void ps_stat_add(struct ps_stat *stat, int64_t value)
{
    struct ps_stat one = {.n = 1, .whole = {.min = value, .max = value, .sum = value}};

    one.whole.square_sum = (unsigned __int128)((__int128)value * value);
    ps_stat_merge(stat, &one);
}

void ps_stat_add_real(struct ps_stat *stat, double value)
{
    struct ps_stat one = {.is_real = true, .n = 1};

    value = clamp(value);
    one.real.min = one.real.max = one.real.sum = value;
    one.real.square_sum = clamp(value * value);
    ps_stat_merge(stat, &one);
}

/* Times the number of values. About the mean without its fraction; modulo 2^128. */
static double whole_variance(const struct ps_stat *stat)
{
    __int128 n = (__int128)stat->n, mean = stat->whole.sum / n, rest = stat->whole.sum % n;
    unsigned __int128 around =
        stat->whole.square_sum -
        (unsigned __int128)mean * (unsigned __int128)(stat->whole.sum + rest);

    return (double)around - (double)rest * ((double)rest / (double)n);
}

static double real_variance(const struct ps_stat *stat)
{
    return stat->real.min < stat->real.max
               ? stat->real.square_sum - stat->real.sum * (stat->real.sum / (double)stat->n)
               : 0;
}

double ps_stat_deviation(const struct ps_stat *stat)
{
    double variance;

    if (stat->n == 0)
        return 0;
    variance = stat->is_real ? real_variance(stat) : whole_variance(stat);
    return sqrt(fmax(variance, 0) / (double)stat->n);
}

static void merge_whole(struct ps_stat *into, const struct ps_stat *from)
{
    unsigned __int128 sum = (unsigned __int128)into->whole.sum;

    into->whole.sum = (__int128)(sum + (unsigned __int128)from->whole.sum);
    into->whole.square_sum += from->whole.square_sum;
    if (from->whole.min < into->whole.min)
        into->whole.min = from->whole.min;
    if (from->whole.max > into->whole.max)
        into->whole.max = from->whole.max;
}

static void merge_real(struct ps_stat *into, const struct ps_stat *from)
{
    into->real.sum = clamp(into->real.sum + from->real.sum);
    into->real.square_sum = clamp(into->real.square_sum + from->real.square_sum);
    into->real.min = fmin(into->real.min, from->real.min);
    into->real.max = fmax(into->real.max, from->real.max);
}

bool ps_stat_merge(struct ps_stat *into, const struct ps_stat *from)
{
    if (from->n == 0)
        return true;
    if (into->n == 0) {
        *into = *from;
        return true;
    }
    if (into->is_real != from->is_real || into->n > (UINT64_MAX >> 2) - from->n)
        return false;
    into->n += from->n;
    if (into->is_real)
        merge_real(into, from);
    else
        merge_whole(into, from);
    return true;
}
