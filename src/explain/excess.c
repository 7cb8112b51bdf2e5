/*
 * The sum over the calls is what is asked of: what is not late by itself shares the rest, by
 * what it took more. Of a first execution that mostly waited until others had begun (is_fill,
 * own_lost.c) no wait lost anything.
 */
#include "explain/excess.h"

#include "explain/waiting.h"

#include <math.h>

#define FILL_FACTOR 2 /* of what was lost, that all calls took more: the rest was waiting */

/* What a call took over what is typical on its path; all of it where it typically is not. */
static double excess_of(const struct why *why, uint32_t t, uint32_t v)
{
    double own = (double)why->forest->exclusive_ns[v];

    return residual_is_typical(why->model, residual_path(why->place, why->forest, t, v))
               ? own - residual_typical(why->model, why->place, why->forest, t, v)
               : own;
}

/* What call v took more; of the fill nothing of what may be waiting. */
static double late_of(const struct why *why, uint32_t t, uint32_t v, bool is_fill)
{
    return is_fill && waiting_is_likely(&why->defs->region[why->forest->region[v]])
               ? 0
               : fmax(excess_of(why, t, v), 0);
}

/* A first execution that lost but a small part of what it took more: it waited until others had
 * begun (own_lost.c). */
static bool is_of_fill(const struct why *why, uint32_t t, double lost)
{
    double sum = 0;

    if (why->forest->index[t] != 0 || lost <= 0)
        return false;
    for (uint32_t v = why->forest->first[t]; v < why->forest->first[t + 1]; v++)
        sum += late_of(why, t, v, false);
    return sum > FILL_FACTOR * lost;
}

/* What is late for certain first; where that does not explain all, what the others took more. */
void excess_lost(const struct why *why, uint32_t t, int64_t lost_ns, double *out)
{
    const struct forest *forest = why->forest;
    uint32_t first = forest->first[t], end = forest->first[t + 1];
    double late = 0, more = 0, lost = (double)lost_ns, share_of_late, share_of_more;
    bool is_fill = is_of_fill(why, t, lost);

    for (uint32_t v = first; v < end; v++) {
        double excess = late_of(why, t, v, is_fill);
        double sure = excess > 0 && residual_is_typical(why->model,
                                                        residual_path(why->place, forest, t, v))
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
                         share_of_more * (late_of(why, t, v, is_fill) - out[v - first]);
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
