/*
 * Hoare's selection; groups are brought together by a counting sort. Of sorted values all that
 * is asked for is found by bisection, the median of the distances among two ascending rows of
 * them: those below the centre and those above.
 */
#include "features/robust.h"

#include "base/student.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NORMAL_MAD 1.4826 /* MAD of a normal distribution is 1 / this standard deviations */
#define P95_SIGMAS 1.645  /* and its 95th percentile is at so many */

/* Moves values so that x[k] is the k-th smallest, with none larger before it (Hoare, Wirth). */
static double select_kth(double *x, ptrdiff_t n, ptrdiff_t k)
{
    ptrdiff_t low = 0, high = n - 1;

    while (low < high) {
        double pivot = x[k];
        ptrdiff_t i = low, j = high;

        while (i <= j) {
            double swap;

            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i > j)
                break;
            swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (j < k)
            low = i;
        if (k < i)
            high = j;
    }
    return x[k];
}

double robust_quantile(double *x, size_t n, double q)
{
    double position = q * (double)(n - 1);
    size_t below = (size_t)position;
    double value = select_kth(x, (ptrdiff_t)n, (ptrdiff_t)below), next = INFINITY;

    if (position <= (double)below || below + 1 >= n)
        return value;
    for (size_t i = below + 1; i < n; i++)
        next = x[i] < next ? x[i] : next;
    return value + (position - (double)below) * (next - value);
}

double robust_lower_middle(size_t n)
{
    return n > 1 ? (double)((n - 1) / 2) / (double)(n - 1) : 0.5;
}

double robust_middle(size_t n)
{
    return n < ROBUST_FEW ? robust_lower_middle(n) : 0.5;
}

/* It moves most when all are off the same way. */
double robust_median_off(const double *x, const double *off, size_t n)
{
    double *moved = mem_alloc(n, sizeof *moved), median[3];

    for (int way = -1; way <= 1; way++) {
        for (size_t i = 0; i < n; i++)
            moved[i] = x[i] + way * off[i];
        median[way + 1] = robust_quantile(moved, n, 0.5);
    }
    free(moved);
    return fmax(median[2] - median[1], median[1] - median[0]);
}

double robust_width(double centre, double at84, double at95, double distance, double least)
{
    double scale = least, mad = NORMAL_MAD * distance;

    if (mad > scale)
        scale = mad;
    if (at84 - centre > scale)
        scale = at84 - centre;
    if ((at95 - centre) / P95_SIGMAS > scale)
        scale = (at95 - centre) / P95_SIGMAS;
    return scale;
}

struct spread robust_spread(double *x, double *scratch, size_t n, double least)
{
    double centre = robust_quantile(x, n, robust_middle(n));
    double at84 = robust_quantile(x, n, ROBUST_P84), at95 = robust_quantile(x, n, 0.95);

    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(x[i] - centre);
    return (struct spread){
        centre, robust_width(centre, at84, at95, robust_quantile(scratch, n, 0.5), least)};
}

#define MAD_EFFICIENCY 0.37 /* of the median distance, of normal values */
#define ONE_MORE (1 / 5000.0)
#define ONE_MORE_Z 3.54 /* widths, of a normal variable */
#define WIDEST 1e6

struct spread robust_for_one_more(double *x, double *scratch, size_t n, double least)
{
    double centre = robust_quantile(x, n, robust_middle(n));
    double at84 = robust_quantile(x, n, ROBUST_P84), width;
    double freedom = MAD_EFFICIENCY * (double)(n - 1);
    double wider = n > 1 ? student_quantile(ONE_MORE, freedom) / ONE_MORE_Z : WIDEST;

    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(x[i] - centre);
    width = robust_width(centre, at84, centre, robust_quantile(scratch, n, 0.5), least);
    return (struct spread){centre, width * fmin(wider, WIDEST)};
}

/* ------------------------------------------------------------------------ sorted times */

struct times {
    struct sorted_times sorted;
    size_t n;
    double offset_ns, centre;
    size_t n_below; /* times whose x is below the centre */
};

static double log_at(const struct times *times, size_t i)
{
    const struct sorted_times *s = &times->sorted;

    return log((s->narrow_ns ? (double)s->narrow_ns[i] : (double)s->wide_ns[i]) +
               times->offset_ns);
}

/* From the centre to the i-th x below it, or from it on; these grow with i. */
static double below(const struct times *times, size_t i)
{
    return i < times->n_below ? fabs(log_at(times, times->n_below - 1 - i) - times->centre)
                              : INFINITY;
}

static double above(const struct times *times, size_t i)
{
    return times->n_below + i < times->n
               ? fabs(log_at(times, times->n_below + i) - times->centre)
               : INFINITY;
}

/* The k-th smallest distance: i of those before it are below the centre, k - i are not. */
static double distance_at(const struct times *times, size_t k)
{
    size_t n_above = times->n - times->n_below;
    size_t low = k > n_above ? k - n_above : 0;
    size_t high = k < times->n_below ? k : times->n_below;

    while (low < high) {
        size_t i = low + (high - low) / 2;

        if (above(times, k - i - 1) > below(times, i))
            low = i + 1;
        else
            high = i;
    }
    return fmin(below(times, low), above(times, k - low));
}

/* As robust_quantile, of what `at` says of index 0 .. n-1 in ascending order. */
static double quantile_at(const struct times *times, double q,
                          double (*at)(const struct times *times, size_t i))
{
    double position = q * (double)(times->n - 1);
    size_t before = (size_t)position;
    double value = at(times, before);

    if (position <= (double)before || before + 1 >= times->n)
        return value;
    return value + (position - (double)before) * (at(times, before + 1) - value);
}

static size_t count_below(const struct times *times)
{
    size_t low = 0, high = times->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (log_at(times, middle) < times->centre)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct spread robust_log_times(const struct sorted_times *sorted, double offset_ns,
                               double least)
{
    struct times times = {.sorted = *sorted, .n = sorted->n, .offset_ns = offset_ns};
    double at84 = quantile_at(&times, ROBUST_P84, log_at),
           at95 = quantile_at(&times, 0.95, log_at);

    times.centre = quantile_at(&times, robust_middle(times.n), log_at);
    times.n_below = count_below(&times);
    return (struct spread){
        times.centre,
        robust_width(times.centre, at84, at95, quantile_at(&times, 0.5, distance_at), least)};
}

/* ------------------------------------------------------------------------------ groups */

struct grouping {
    double least;
    double *sorted, *scratch; /* [n]; [workers * largest] */
    const size_t *begin;      /* [n_groups] of each in sorted */
    const uint32_t *own;      /* groups of this process; NULL: all */
    size_t largest;
    struct spread *spread;
    const uint32_t *count;
};

static void spread_groups(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct grouping *w = ctx;
    double *scratch = w->scratch + worker * w->largest;

    for (size_t i = begin; i < end; i++) {
        size_t g = w->own ? w->own[i] : i;

        w->spread[g] =
            w->count[g] ? robust_spread(w->sorted + w->begin[g], scratch, w->count[g], w->least)
                        : (struct spread){0, w->least};
    }
}

/* The values of each group together, in the order that groups are dealt in. */
static double *sort_values(const struct robust_items *items, const uint32_t *order,
                           uint32_t *count, size_t *begin)
{
    double *sorted = mem_resize(NULL, items->n, sizeof *sorted);
    size_t at = 0;

    memset(count, 0, items->n_groups * sizeof *count);
    for (size_t i = 0; i < items->n; i++)
        count[items->group[i]]++;
    for (uint32_t i = 0; i < items->n_groups; i++) {
        uint32_t g = order ? order[i] : i;

        begin[g] = at;
        at += count[g];
    }
    for (size_t i = 0; i < items->n; i++)
        sorted[begin[items->group[i]]++] = items->value(i, items->ctx);
    for (uint32_t g = 0; g < items->n_groups; g++)
        begin[g] -= count[g];
    return sorted;
}

void robust_groups(const struct robust_items *items, double least, struct pool *pool,
                   struct spread *spread, uint32_t *count)
{
    const struct dealing *given = items->deal && items->deal->share ? items->deal : NULL;
    uint32_t n = items->n_groups;
    size_t *begin = mem_alloc(n, sizeof *begin);
    struct grouping work = {.least = least, .begin = begin, .spread = spread, .count = count};

    work.sorted = sort_values(items, given ? given->order : NULL, count, begin);
    if (given) {
        struct dealing deal = *given;

        deal.width = sizeof *work.sorted;
        deal.paged = NULL;
        work.sorted = dealing_exchange(&deal, work.sorted, count, begin);
        work.own = given->order + given->first[given->me];
        n = given->first[given->me + 1] - given->first[given->me];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t members = count[work.own ? work.own[i] : i];

        work.largest = members > work.largest ? members : work.largest;
    }
    work.scratch = mem_resize(NULL, pool_threads(pool) * work.largest, sizeof *work.scratch);
    pool_for(pool, n, n / (64 * pool_threads(pool)) + 1, spread_groups, &work);
    if (given) {
        dealing_tell(given, spread, sizeof *spread);
        dealing_tell(given, count, sizeof *count);
    }
    free(work.scratch);
    free(work.sorted);
    free(begin);
}
