/*
 * Sums of what was and of what is usual, by place and time. Usual is a median over all places:
 * the sum of skewed times is above that of their medians, and a place may have the larger calls
 * of a path. So the picture is that of the verdicts: usual for a place is what its own work
 * takes without what it is slow by.
 */
#include "ranks/peers.h"

#include "base/mem.h"
#include "ranks/peer_cells.h"

#include <math.h>
#include <stdlib.h>

#define MIN_OWN 1e-3 /* of the time of a place that is not slowness */

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

/* Makes times of a place factors. */
static void scale_place(const struct peer_place *place, uint32_t width, double offset_ns,
                        const double *usual_ns, double *factor)
{
    double time = 0, usual = 0, own;

    for (uint32_t i = 0; i < width; i++) {
        time += factor[i];
        usual += usual_ns[i];
    }
    own = fmax(time - place->slow_ns - place->maybe_ns, MIN_OWN * time);
    for (uint32_t i = 0; i < width; i++)
        factor[i] =
            usual_ns[i] > 0 ? factor[i] / fmax(usual_ns[i] * own / usual, offset_ns) : 0;
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
            uint32_t path = residual_path(&scoring->place, forest, t, v);

            if (path == PATH_NONE || peers->is_waiting[path])
                continue;
            out->factor[at] += peer_call_ns(scoring, peers, v);
            usual_ns[at] +=
                residual_context(&scoring->model, &scoring->place, forest, t, v)->typical -
                scoring->model.offset_ns;
        }
    }
    for (size_t p = 0; p < peers->n; p++)
        scale_place(&peers->place[p], width, scoring->model.offset_ns, usual_ns + p * width,
                    out->factor + p * width);
    free(usual_ns);
}
