/* Hoare's selection; groups are brought together by a counting sort. */
#include "features/robust.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define NORMAL_MAD 1.4826 /* MAD of a normal distribution is 1 / this standard deviations */
#define P84 0.8413        /* a normal value is below one standard deviation so often */
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

struct spread robust_spread(double *x, double *scratch, size_t n, double least)
{
    double centre = robust_quantile(x, n, 0.5);
    double at84 = robust_quantile(x, n, P84), at95 = robust_quantile(x, n, 0.95), mad;
    double scale = least;

    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(x[i] - centre);
    mad = NORMAL_MAD * robust_quantile(scratch, n, 0.5);
    if (mad > scale)
        scale = mad;
    if (at84 - centre > scale)
        scale = at84 - centre;
    if ((at95 - centre) / P95_SIGMAS > scale)
        scale = (at95 - centre) / P95_SIGMAS;
    return (struct spread){centre, scale};
}

void robust_groups(const uint32_t *group, uint32_t n_groups, size_t n,
                   double (*value)(size_t i, const void *ctx), const void *ctx, double least,
                   struct spread *spread, uint32_t *count)
{
    size_t *end = mem_alloc((size_t)n_groups + 1, sizeof *end), largest = 0;
    double *sorted = mem_resize(NULL, n, sizeof *sorted), *scratch;

    for (size_t i = 0; i < n; i++)
        end[group[i] + 1]++;
    for (uint32_t g = 0; g < n_groups; g++) {
        count[g] = (uint32_t)end[g + 1];
        largest = count[g] > largest ? count[g] : largest;
        end[g + 1] += end[g];
    }
    for (size_t i = 0; i < n; i++)
        sorted[end[group[i]]++] = value(i, ctx);
    scratch = mem_resize(NULL, largest, sizeof *scratch);
    for (uint32_t g = 0; g < n_groups; g++)
        spread[g] = count[g]
                        ? robust_spread(sorted + end[g] - count[g], scratch, count[g], least)
                        : (struct spread){0, least};
    free(scratch);
    free(sorted);
    free(end);
}
