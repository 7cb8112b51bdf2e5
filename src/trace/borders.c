#include "trace/borders.h"

#include <math.h>

void borders_join(struct borders *borders, uint64_t most)
{
    if (most < 2)
        return;
    borders->n_joined++;
    borders->most_joined += most;
}

size_t borders_bin(uint64_t ns)
{
    double quarters = ns > 1 ? floor(4 * log2((double)ns)) : 0;

    return quarters < BORDER_BINS - 1 ? (size_t)quarters : BORDER_BINS - 1;
}

void borders_add(struct borders *to, const struct borders *from)
{
    for (size_t i = 0; i < BORDER_BINS; i++)
        to->n_off[i] += from->n_off[i];
    to->n_joined += from->n_joined;
    to->most_joined += from->most_joined;
}

uint64_t borders_count(const struct borders *borders)
{
    uint64_t n = 0;

    for (size_t i = 0; i < BORDER_BINS; i++)
        n += borders->n_off[i];
    return n;
}

double borders_quantile(const struct borders *borders, double share)
{
    uint64_t n = borders_count(borders), so_far = 0;

    for (size_t i = 0; i < BORDER_BINS && n > 0; i++) {
        so_far += borders->n_off[i];
        if ((double)so_far >= share * (double)n)
            return round(exp2((double)(i + 1) / 4));
    }
    return 0;
}
