/*
 * The sum over the calls is what is asked of: what is not late by itself shares the rest, by
 * what it took more.
 */
#include "explain/excess.h"

#include <math.h>

/* What a call took over what is typical on its path; all of it where it typically is not. */
static double excess_of(const struct why *why, uint32_t t, uint32_t v)
{
    double own = (double)why->forest->exclusive_ns[v];

    return residual_is_typical(why->model, residual_path(why->place, why->forest, t, v))
               ? own - residual_typical(why->model, why->place, why->forest, t, v)
               : own;
}

/* What is late for certain first; where that does not explain all, what the others took more. */
void excess_lost(const struct why *why, uint32_t t, int64_t lost_ns, double *out)
{
    const struct forest *forest = why->forest;
    uint32_t first = forest->first[t], end = forest->first[t + 1];
    double late = 0, more = 0, lost = (double)lost_ns, share_of_late, share_of_more;

    for (uint32_t v = first; v < end; v++) {
        double excess = fmax(excess_of(why, t, v), 0);
        double sure = residual_is_typical(why->model, residual_path(why->place, forest, t, v))
                          ? residual_sure(why->model, why->place, forest, t, v)
                          : excess;

        out[v - first] = sure;
        late += sure;
        more += excess - sure;
    }
    share_of_late = late > lost ? lost / late : 1;
    share_of_more = late < lost && more > 0 ? fmin((lost - late) / more, 1) : 0;
    for (uint32_t v = first; v < end; v++)
        out[v - first] = share_of_late * out[v - first] +
                         share_of_more * (fmax(excess_of(why, t, v), 0) - out[v - first]);
}

void excess_typical(const struct why *why, uint32_t t, bool is_everywhere, double *out)
{
    const struct forest *forest = why->forest;
    uint32_t first = forest->first[t];

    for (uint32_t v = first; v < forest->first[t + 1]; v++) {
        double typical = is_everywhere
                             ? residual_typical_everywhere(why->model, why->place, forest, t, v)
                             : residual_typical(why->model, why->place, forest, t, v);

        out[v - first] = residual_path(why->place, forest, t, v) == PATH_NONE
                             ? 0
                             : (double)forest->exclusive_ns[v] - typical;
    }
}
