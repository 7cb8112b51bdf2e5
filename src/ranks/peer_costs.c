/* The run is played again with the calls of a place as fast, and as many, as those of its
 * peers. */
#include "ranks/peers.h"

#include "base/mem.h"
#include "base/order.h"
#include "ranks/peer_devices.h"
#include "ranks/peer_teams.h"
#include "replay/ideal.h"
#include "replay/run_view.h"
#include "replay/what_if.h"

#include <math.h>
#include <stdlib.h>

/* What is known exactly is the same all ways. */
enum bound { AS_IT_IS, AT_LEAST, AT_MOST, NOT_SLOW };

static double factor_at(const struct peer_path *x, enum bound way)
{
    switch (way) {
    case AS_IT_IS:
        return x->factor;
    case AT_LEAST:
        return fmax(x->factor * exp(-x->off), 1);
    case AT_MOST:
        return x->factor * exp(x->off);
    default:
        return 1;
    }
}

bool peers_is_to_blame(const struct peer_place *place)
{
    return place->verdict == PEER_SLOW || place->verdict == PEER_IMBALANCED;
}

/* By which calls on each path of a place take longer, of one stage, or may take longer at
 * least, or at most; or back to 1, as where they do not. */
static void set_factors(const struct peer_place *place, uint32_t stage, double *factor,
                        enum bound way)
{
    for (uint32_t i = 0; i < place->n_paths; i++)
        if (place->path[i].is_sure && place->path[i].kernel_factor == 0 &&
            (place->path[i].stage == NO_STAGE || place->path[i].stage == stage))
            factor[place->path[i].path] = factor_at(&place->path[i], way);
}

/* factor (n_paths) is 1, and is again. */
static void find_excess(const struct peers *peers, uint32_t place,
                        const struct peer_execution *x, enum bound way, double *factor,
                        double *excess)
{
    const struct forest *forest = x->forest;
    uint32_t first = forest->first[x->tree], n = forest->first[x->tree + 1] - first;
    uint32_t stage =
        peer_stage(&x->defs->location[forest->location[x->tree]], peers->opts.stage);

    set_factors(&peers->place[place], stage, factor, way);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t path = residual_path(x->place, forest, x->tree, first + i);

        excess[i] = path == PATH_NONE
                        ? 0
                        : (double)forest->exclusive_ns[first + i] * (1 - 1 / factor[path]);
    }
    set_factors(&peers->place[place], stage, factor, NOT_SLOW);
}

void peers_excess(const struct peers *peers, uint32_t place, const struct peer_execution *x,
                  double *factor, double *excess)
{
    find_excess(peers, place, x, AS_IT_IS, factor, excess);
}

/* Takes it out of all executions of a place; false: one is where nothing is replayed. */
static bool cut_place(struct what_if *w, const struct scoring *s, const struct peers *peers,
                      uint32_t place, double *factor, enum bound way)
{
    const struct forest *forest = &s->forest;
    double *excess = NULL;
    size_t cap = 0;
    bool is_known = true;

    for (uint32_t k = peers->first_tree[place]; k < peers->first_tree[place + 1]; k++) {
        uint32_t t = peers->tree[k];
        const struct peer_execution x = {s->defs, forest, &s->place, t};

        is_known &= syncs_takes_part(&w->syncs, forest->location[t]);
        mem_grow(&excess, &cap, forest->first[t + 1] - forest->first[t], sizeof *excess);
        find_excess(peers, place, &x, way, factor, excess);
        what_if_cut(w, forest, t, excess);
    }
    peer_devices_cut(peers, place, w);
    free(excess);
    return is_known;
}

/* By how much the run would be shorter. */
static int64_t cost_of_place(struct what_if *w, const struct scoring *s, struct peers *peers,
                             uint32_t place, double *factor, enum bound way)
{
    struct replay_result result;

    peers->place[place].has_cost = cut_place(w, s, peers, place, factor, way);
    replay_run(&w->replay, &result);
    replay_clear(&w->replay);
    return result.saved_ns > 0 ? result.saved_ns : 0;
}

static void find_costs(struct what_if *w, const struct scoring *s, struct peers *peers)
{
    uint64_t run_ns = w->syncs.end_ns - w->syncs.begin_ns;
    double *factor = mem_alloc(s->model.paths.n, sizeof *factor);
    struct replay_result result;
    uint32_t n_asked = 0;
    bool is_known = true;

    if (!syncs_clocks_agree(&w->syncs)) { /* the order says nothing of who waited for whom */
        free(factor);
        return;
    }
    for (uint32_t i = 0; i < s->model.paths.n; i++)
        factor[i] = 1;
    for (uint32_t p = 0; p < peers->n && n_asked < PEERS_MAX_COSTS; p++) {
        struct peer_place *place = &peers->place[p];

        if (!peers_is_to_blame(place))
            continue;
        n_asked++;
        place->cost_ns = cost_of_place(w, s, peers, p, factor, AS_IT_IS);
        for (enum bound way = AT_LEAST; place->off_ns > 0 && way <= AT_MOST; way++) {
            int64_t apart = llabs(cost_of_place(w, s, peers, p, factor, way) - place->cost_ns);

            place->cost_off_ns = apart > place->cost_off_ns ? apart : place->cost_off_ns;
        }
    }
    for (uint32_t p = 0; p < peers->n; p++)
        if (peers->place[p].verdict == PEER_SLOW)
            is_known &= cut_place(w, s, peers, p, factor, AS_IT_IS);
    replay_run(&w->replay, &result);
    if (is_known && result.saved_ns < (int64_t)run_ns)
        peers->slowdown = (double)run_ns / ((double)run_ns - (double)result.saved_ns);
    free(factor);
}

/* ------------------------------------------------------------------------------- streams */

struct kept {
    const struct peers *peers;
    uint32_t place;
};

static bool is_of_place(uint32_t location, uint32_t region, void *ctx)
{
    const struct kept *kept = ctx;

    (void)region;
    return kept->peers->at[location] == kept->place;
}

static bool is_of_region(uint32_t location, uint32_t region, void *ctx)
{
    (void)location;
    return region == *(const uint32_t *)ctx;
}

static int by_slowdown(const void *a, const void *b)
{
    const struct peer_operation *p = a, *q = b;

    if (p->slowdown != q->slowdown)
        return p->slowdown < q->slowdown ? 1 : -1;
    return order_u32(&p->region, &q->region);
}

static int by_sum(const void *a, const void *b)
{
    const struct peer_operation *p = a, *q = b;

    return p->sum_ns != q->sum_ns ? (p->sum_ns < q->sum_ns ? 1 : -1)
                                  : order_u32(&p->region, &q->region);
}

static void find_operations(struct ideal *ideal, uint32_t n_regions, struct peers *peers)
{
    peers->operation = mem_alloc(n_regions, sizeof *peers->operation);
    for (uint32_t r = 0; r < n_regions; r++)
        if (ideal->kind[r].n > 0)
            peers->operation[peers->n_operations++] =
                (struct peer_operation){.region = r, .sum_ns = ideal->kind[r].sum_ns};
    qsort(peers->operation, peers->n_operations, sizeof *peers->operation, by_sum);
    if (peers->n_operations > PEERS_MAX_OPERATIONS)
        peers->n_operations = PEERS_MAX_OPERATIONS;
    for (uint32_t i = 0; i < peers->n_operations; i++)
        peers->operation[i].slowdown =
            ideal_slowdown(ideal, is_of_region, &peers->operation[i].region);
    qsort(peers->operation, peers->n_operations, sizeof *peers->operation, by_slowdown);
}

/* Against the run with ideal operations; leaves it to find_costs where there are none. */
static bool find_slowdowns(struct what_if *w, const struct scoring *s, struct peers *peers)
{
    struct ideal ideal;
    bool is_any;

    ideal_init(&ideal, &w->replay);
    is_any = ideal.n > 0;
    if (is_any && ideal.ideal_ns > 0)
        peers->slowdown = ideal.run_ns / ideal.ideal_ns;
    for (uint32_t p = 0; is_any && p < peers->n && p < PEERS_MAX_PLAYED; p++)
        peers->place[p].slowdown =
            ideal_slowdown(&ideal, is_of_place, &(struct kept){peers, p});
    if (is_any)
        find_operations(&ideal, s->defs->names.n, peers);
    ideal_release(&ideal);
    return is_any;
}

/* Whether the replay has anything to say. */
static bool may_have_costs(const struct peers *peers, size_t n_dependencies)
{
    bool is_any = peers->teams.n > 0;

    for (uint32_t p = 0; p < peers->n; p++)
        is_any |= peers_is_to_blame(&peers->place[p]);
    return peers->is_of_streams ? n_dependencies > 0 : is_any;
}

void peers_costs_in(struct what_if *w, const struct scoring *scoring, struct peers *peers)
{
    bool has_ideal;
    double slowdown;

    if (!may_have_costs(peers, w->view.n_dependencies))
        return;
    has_ideal = peers->is_of_streams && find_slowdowns(w, scoring, peers);
    slowdown = peers->slowdown;
    find_costs(w, scoring, peers);
    peer_teams_costs(w, &peers->teams);
    if (has_ideal)
        peers->slowdown = slowdown;
}

int peers_costs(const struct scoring *scoring, const struct columns *columns,
                struct peers *peers)
{
    struct what_if w;
    int rc;

    if (!may_have_costs(peers, columns->n_dependencies)) {
        if (!peers->is_of_streams)
            peers->slowdown = 1;
        return 0;
    }
    rc = what_if_init(&w, columns, scoring->defs);
    if (rc == 0)
        peers_costs_in(&w, scoring, peers);
    what_if_release(&w);
    return rc;
}

int peers_of_run(const struct scoring *scoring, const struct columns *columns,
                 const struct peers_opts *opts, struct peers *out)
{
    struct trace_view view;

    run_view_init(&view, columns, scoring->defs);
    peers_find(scoring, &view, opts, out);
    trace_view_release(&view);
    return peers_costs(scoring, columns, out);
}
