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

void excess_lost(const struct why *why, uint32_t t, const struct residual_loss *loss,
                 double *out)
{
    const struct forest *forest = why->forest;
    uint32_t first = forest->first[t], end = forest->first[t + 1];

    for (uint32_t v = first; v < end; v++) {
        double own = (double)forest->exclusive_ns[v];

        if (!residual_is_usual(why->model, residual_path(why->place, forest, t, v)))
            out[v - first] = own;
        else if (loss->is_whole)
            out[v - first] = own - residual_typical(why->model, why->place, forest, t, v);
        else
            out[v - first] = residual_sure(why->model, why->place, forest, t, v);
    }
    if (loss->is_whole)
        even_out(out, end - first, loss->ns);
}

void excess_usual(const struct why *why, uint32_t t, bool is_everywhere, double *out)
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
