/* Sorted copies; ties share a rank. */
#include "detect/tails.h"

#include "base/mem.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

static double *sorted_copy(const double *x, size_t n)
{
    double *copy = mem_alloc(n, sizeof *copy);

    if (n > 0)
        memcpy(copy, x, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_value);
    return copy;
}

void tail_rank(const double *x, size_t n, double *out)
{
    double *sorted = sorted_copy(x, n);

    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = n;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (sorted[middle] < x[i])
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = -log((double)(n - low) / (double)n);
    }
    free(sorted);
}

double tail_share(size_t n)
{
    return fmin(fmax(0.05, 2.0 / (double)n), 0.5);
}

/* Value per nat: the steepest of what neighbouring quantiles say, and at least `least`. */
static double slope_of(double *x, size_t n, double least)
{
    static const double share[] = {0.5, 0.2, 0.1, 0.05};
    double slope = least, before = 0;

    for (size_t i = 0; i < sizeof share / sizeof *share && share[i] >= 2.0 / (double)n; i++) {
        double here = robust_quantile(x, n, 1 - share[i]);

        if (i > 0)
            slope = fmax(slope, (here - before) / log(share[i - 1] / share[i]));
        before = here;
    }
    return slope;
}

void tail_model(const double *x, const double *rank, size_t n, double least, double *out)
{
    double *copy = mem_alloc(n, sizeof *copy);
    double anchor = INFINITY, at_anchor = 0, slope, begin = -log(tail_share(n)) - 1e-9;

    if (n == 0) {
        free(copy);
        return;
    }
    memcpy(copy, x, n * sizeof *copy);
    slope = slope_of(copy, n, least);
    for (size_t i = 0; i < n; i++)
        if (rank[i] >= begin && x[i] < anchor) {
            anchor = x[i];
            at_anchor = rank[i];
        }
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] >= anchor ? at_anchor + (x[i] - anchor) / slope : rank[i];
    free(copy);
}
