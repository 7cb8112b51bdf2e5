#include "explain/excess.h"

#include <math.h>

/* Where all that an execution took more is lost, calls that took less have lost nothing: what
 * the others did makes up for it. */
static void even_out(double *excess_ns, uint32_t n, double lost_ns)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += fmax(excess_ns[i], 0);
    for (uint32_t i = 0; i < n; i++)
        excess_ns[i] = sum > 0 ? fmax(excess_ns[i], 0) * fmin(lost_ns / sum, 1) : 0;
}

void excess_lost(struct why *why, uint32_t t, double *out)
{
    const struct forest *forest = why->forest;
    uint32_t first = forest->first[t], end = forest->first[t + 1];

    why_sort_pairs(why, t);
    for (uint32_t v = first; v < end; v++) {
        double typical, z = residual_call(why->model, why->place, forest, t, v, &typical);
        double own = (double)forest->exclusive_ns[v];

        if (!why_is_usual(why, residual_path(why->place, forest, t, v)))
            out[v - first] = own;
        else if (why->is_whole)
            out[v - first] = own - typical;
        else
            out[v - first] = residual_sure_ns(own - typical, z);
    }
    if (why->is_whole)
        even_out(out, end - first, why->lost_ns);
}

void excess_usual(const struct why *why, uint32_t t, bool is_everywhere, double *out)
{
    const struct forest *forest = why->forest;
    uint32_t first = forest->first[t];

    for (uint32_t v = first; v < forest->first[t + 1]; v++) {
        double typical;

        if (is_everywhere)
            residual_call_everywhere(why->model, why->place, forest, t, v, &typical);
        else
            residual_call(why->model, why->place, forest, t, v, &typical);
        out[v - first] = residual_path(why->place, forest, t, v) == PATH_NONE
                             ? 0
                             : (double)forest->exclusive_ns[v] - typical;
    }
}
