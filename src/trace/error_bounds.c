#include "trace/error_bounds.h"

#include <math.h>

void error_bounds_join(struct error_bounds *bounds, uint64_t most)
{
    if (most < 2)
        return;
    bounds->n_joined++;
    bounds->most_joined += most;
}

size_t error_bounds_bin(uint64_t ns)
{
    double quarters = ns > 1 ? floor(4 * log2((double)ns)) : 0;

    return quarters < ERROR_BOUND_BINS - 1 ? (size_t)quarters : ERROR_BOUND_BINS - 1;
}

void error_bounds_add(struct error_bounds *to, const struct error_bounds *from)
{
    for (size_t i = 0; i < ERROR_BOUND_BINS; i++)
        to->n_off[i] += from->n_off[i];
    to->n_joined += from->n_joined;
    to->most_joined += from->most_joined;
}

uint64_t error_bounds_count(const struct error_bounds *bounds)
{
    uint64_t n = 0;

    for (size_t i = 0; i < ERROR_BOUND_BINS; i++)
        n += bounds->n_off[i];
    return n;
}

double error_bounds_quantile(const struct error_bounds *bounds, double share)
{
    uint64_t n = error_bounds_count(bounds), so_far = 0;

    for (size_t i = 0; i < ERROR_BOUND_BINS && n > 0; i++) {
        so_far += bounds->n_off[i];
        if ((double)so_far >= share * (double)n)
            return round(exp2((double)(i + 1) / 4));
    }
    return 0;
}
