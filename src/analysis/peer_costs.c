/* The run is played again with the slow calls of a place as fast as those of its peers. */
#include "analysis/peers.h"

#include "analysis/run_view.h"
#include "analysis/what_if.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* By which calls on each path of a place take longer; 1 where they do not. */
static void find_factors(const struct peer_place *place, double *factor, uint32_t n_paths)
{
    for (uint32_t p = 0; p < n_paths; p++)
        factor[p] = 1;
    for (uint32_t i = 0; i < place->n_paths; i++)
        if (place->path[i].is_sure && !place->path[i].is_more)
            factor[place->path[i].path] = place->path[i].factor;
}

/* Takes it out of all executions of a place; false: one is where nothing is replayed. */
static bool cut_place(struct what_if *w, const struct scoring *s, const struct peers *peers,
                      uint32_t place, double *factor)
{
    const struct forest *forest = &s->forest;
    double *excess = NULL;
    size_t cap = 0;
    bool is_known = true;

    find_factors(&peers->place[place], factor, s->model.paths.n);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        uint32_t first = forest->first[t], n = forest->first[t + 1] - first;

        if (peers->of[t] != place)
            continue;
        is_known &= syncs_takes_part(&w->syncs, forest->location[t]);
        mem_grow(&excess, &cap, n, sizeof *excess);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t path = s->place.path[first + i];

            excess[i] = path == PATH_NONE
                            ? 0
                            : (double)forest->exclusive_ns[first + i] * (1 - 1 / factor[path]);
        }
        what_if_cut(w, forest, t, excess);
    }
    free(excess);
    return is_known;
}

static void find_costs(struct what_if *w, const struct scoring *s, struct peers *peers)
{
    uint64_t run_ns = w->syncs.end_ns - w->syncs.begin_ns;
    double *factor = mem_alloc(s->model.paths.n, sizeof *factor);
    struct replay_result result;
    uint32_t n_asked = 0;
    bool is_known = true;

    for (uint32_t p = 0; p < peers->n && n_asked < PEERS_MOST_COSTS; p++) {
        struct peer_place *place = &peers->place[p];

        if (place->verdict != PEER_SLOW)
            continue;
        n_asked++;
        place->has_cost = cut_place(w, s, peers, p, factor);
        replay_run(&w->replay, &result);
        place->cost_ns = result.saved_ns > 0 ? result.saved_ns : 0;
        replay_clear(&w->replay);
    }
    for (uint32_t p = 0; p < peers->n; p++)
        if (peers->place[p].verdict == PEER_SLOW)
            is_known &= cut_place(w, s, peers, p, factor);
    replay_run(&w->replay, &result);
    if (is_known && result.saved_ns < (int64_t)run_ns)
        peers->slowdown = (double)run_ns / ((double)run_ns - (double)result.saved_ns);
    free(factor);
}

int peers_costs(const struct scoring *scoring, const struct columns *columns,
                struct peers *peers)
{
    bool is_any = false;
    struct what_if w;
    int rc;

    for (uint32_t p = 0; p < peers->n; p++)
        is_any |= peers->place[p].verdict == PEER_SLOW;
    if (!is_any)
        peers->slowdown = 1;
    if (!is_any || peers->is_of_streams)
        return 0;
    rc = what_if_init(&w, columns, scoring->defs);
    if (rc == 0)
        find_costs(&w, scoring, peers);
    what_if_release(&w);
    return rc;
}

int peers_of_run(const struct scoring *scoring, const struct columns *columns, enum peer_by by,
                 struct peers *out)
{
    struct trace_view view;

    run_view_init(&view, columns, scoring->defs);
    peers_find(scoring, &view, by, out);
    trace_view_release(&view);
    return peers_costs(scoring, columns, out);
}
