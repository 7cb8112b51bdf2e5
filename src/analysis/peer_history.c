/* Sums of what was and of what is usual, by place and time. */
#include "analysis/peers.h"

#include "base/mem.h"

#include <stdlib.h>

/* When executions begin, of all places. */
static void find_bins(const struct forest *forest, struct peer_history *out)
{
    uint64_t last_ns = 0;

    out->begin_ns = UINT64_MAX;
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        if (forest->enter_ns[t] < out->begin_ns)
            out->begin_ns = forest->enter_ns[t];
        if (forest->enter_ns[t] > last_ns)
            last_ns = forest->enter_ns[t];
    }
    out->bin_ns = (last_ns - out->begin_ns) / out->width + 1;
}

void peers_history(const struct scoring *scoring, const struct peers *peers, uint32_t width,
                   struct peer_history *out)
{
    const struct forest *forest = &scoring->forest;
    size_t n = (size_t)peers->n * width;
    double *usual_ns = mem_alloc(n, sizeof *usual_ns);

    *out = (struct peer_history){.width = width, .factor = mem_alloc(n, sizeof *out->factor)};
    find_bins(forest, out);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        size_t bin = (size_t)((forest->enter_ns[t] - out->begin_ns) / out->bin_ns);
        size_t at = (size_t)peers->of[t] * width + bin;

        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            uint32_t path = scoring->place.path[v];

            if (path == PATH_NONE || peers->is_waiting[path])
                continue;
            out->factor[at] += (double)forest->exclusive_ns[v] + scoring->model.offset_ns;
            usual_ns[at] += residual_context(&scoring->model, &scoring->place, v)->typical;
        }
    }
    for (size_t i = 0; i < n; i++)
        out->factor[i] = usual_ns[i] > 0 ? out->factor[i] / usual_ns[i] : 0;
    free(usual_ns);
}
