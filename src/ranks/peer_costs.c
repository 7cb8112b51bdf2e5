/*
 * The run is replayed with the calls of a place as fast, and as many, as those of its
 * peers. What a place waits for its own GPUs is its own work: that is split from what it waits
 * for others before places are compared, named by the operations that take longer there after
 * that, and taken out of these, not of the waits, when the run is played.
 */
#include "ranks/peer_costs.h"

#include "base/mem.h"
#include "base/order.h"
#include "explain/waiting.h"
#include "features/robust.h"
#include "ranks/peer_few.h"
#include "ranks/peers.h"
#include "replay/what_if.h"

#include <math.h>
#include <stdlib.h>

#define KERNEL_SHARE 0.5 /* of what a wait takes longer: it is for that operation */

static bool is_device(const struct scoring *s, uint32_t path)
{
    return s->defs->region[s->model.paths.region[path]].kind == REGION_DEVICE;
}

static void find_waits(struct peers *peers, const struct scoring *s,
                       const struct trace_view *view)
{
    const struct forest *forest = &s->forest;

    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            uint64_t ns;

            if (s->defs->region[forest->region[v]].kind != REGION_DEVICE)
                continue;
            if (!waiting_others_ns(view, forest->location[t], forest_row(forest, t, v), NAN,
                                   &ns) ||
                ns > forest->exclusive_ns[v])
                ns = forest->exclusive_ns[v];
            peers->waited_ns[v] = (double)ns;
        }
}

void peer_devices_split(struct peers *peers, const struct scoring *s,
                        const struct trace_view *view)
{
    bool has_any = false;

    for (uint32_t p = 0; p < s->model.paths.n; p++)
        if (is_device(s, p)) {
            peers->is_waiting[p] = false;
            has_any = true;
        }
    if (!has_any)
        return;
    peers->waited_ns = mem_alloc(s->forest.n, sizeof *peers->waited_ns);
    find_waits(peers, s, view);
}

/* ---------------------------------------------------------------------------- operations */

/* What the GPUs of all places did. */
struct kernels {
    uint32_t n_regions;
    double *sum_ns;    /* [places][n_regions] */
    double *n;         /* [places][n_regions] */
    bool *is_exchange; /* [n_regions] it waits for other ranks itself */
};

static uint32_t place_of_rank(const struct peers *peers, const struct location *location)
{
    uint32_t p = 0;

    while (p < peers->n && (peers->place[p].rank != location->rank ||
                            peers->place[p].program != location->program))
        p++;
    return p < peers->n ? p : PEERS_NONE;
}

static void add_stream(struct kernels *k, const struct call_view *calls, uint32_t place)
{
    for (uint32_t row = 0; row < calls->n; row++) {
        size_t at = (size_t)place * k->n_regions + calls->region[row];

        if (calls->subtree_len[row] != 1)
            continue;
        k->sum_ns[at] += (double)calls->inclusive_ns[row];
        k->n[at]++;
    }
    for (size_t i = 0; i < calls->n_collectives; i++)
        if (calls->collective[i].call < calls->n)
            k->is_exchange[calls->region[calls->collective[i].call]] = true;
    for (size_t i = 0; i < calls->n_messages; i++)
        if (calls->message[i].call < calls->n)
            k->is_exchange[calls->region[calls->message[i].call]] = true;
}

/* What calls of a region take more on a place than on the middle of the others, in all. */
static double excess_of(const struct kernels *k, uint32_t n_places, uint32_t place, uint32_t r,
                        double *scratch, double *factor)
{
    size_t at = (size_t)place * k->n_regions + r;
    uint32_t n = 0;
    double typical;

    for (uint32_t p = 0; p < n_places; p++) {
        size_t other = (size_t)p * k->n_regions + r;

        if (p != place && k->n[other] > 0)
            scratch[n++] = k->sum_ns[other] / k->n[other];
    }
    if (n == 0 || k->n[at] == 0 || k->is_exchange[r])
        return 0;
    typical = robust_quantile(scratch, n, 0.5);
    *factor = typical > 0 ? k->sum_ns[at] / k->n[at] / typical : 1;
    return k->sum_ns[at] - typical * k->n[at];
}

/* What others wait for meanwhile looks like their own GPU at work: so where an operation
 * explains a wait, what that takes longer is the excess. */
static void name_kernel(const struct kernels *k, struct peers *peers, uint32_t p,
                        double *scratch, struct peer_path *x)
{
    struct peer_place *place = &peers->place[p];
    double most = KERNEL_SHARE * x->excess_ns;

    for (uint32_t r = 0; r < k->n_regions; r++) {
        double factor = 1, excess = excess_of(k, peers->n, p, r, scratch, &factor);

        if (excess <= most)
            continue;
        most = excess;
        x->kernel = r;
        x->kernel_factor = factor;
    }
    if (x->kernel_factor == 0 || most <= x->excess_ns || !x->is_sure)
        return;
    *(x->is_more ? &place->more_ns : &place->slow_ns) += most - x->excess_ns;
    x->excess_ns = most;
}

void peer_devices_name(struct peers *peers, const struct scoring *s,
                       const struct trace_view *view)
{
    uint32_t n_regions = s->defs->names.n;
    size_t n = (size_t)peers->n * n_regions;
    struct kernels k = {.n_regions = n_regions};
    double *scratch;
    bool is_any = false;

    for (uint32_t p = 0; p < peers->n; p++)
        for (uint32_t i = 0; i < peers->place[p].n_paths; i++)
            is_any |= is_device(s, peers->place[p].path[i].path);
    if (!is_any || peers->opts.by != PEERS_BY_RANK)
        return;
    k.sum_ns = mem_alloc(n, sizeof *k.sum_ns);
    k.n = mem_alloc(n, sizeof *k.n);
    k.is_exchange = mem_alloc(n_regions, sizeof *k.is_exchange);
    scratch = mem_alloc(peers->n, sizeof *scratch);
    for (uint32_t l = 0; l < view->n_locations; l++) {
        const struct location *location = &s->defs->location[l];
        uint32_t place = location->is_gpu ? place_of_rank(peers, location) : PEERS_NONE;

        if (place != PEERS_NONE)
            add_stream(&k, trace_view_calls(view, l), place);
    }
    for (uint32_t p = 0; p < peers->n; p++)
        for (uint32_t i = 0; i < peers->place[p].n_paths; i++)
            if (is_device(s, peers->place[p].path[i].path))
                name_kernel(&k, peers, p, scratch, &peers->place[p].path[i]);
    free(k.sum_ns);
    free(k.n);
    free(k.is_exchange);
    free(scratch);
}

/* Whether an operation is named by a path of a place, which is significant or need not be, and by
 * none before it. */
static bool is_to_cut(const struct peer_place *place, uint32_t i, bool is_perhaps)
{
    const struct peer_path *x = &place->path[i];

    if (x->kernel_factor == 0 || !(x->is_sure || is_perhaps))
        return false;
    for (uint32_t k = 0; k < i; k++)
        if (place->path[k].kernel == x->kernel && place->path[k].kernel_factor > 0 &&
            (place->path[k].is_sure || is_perhaps))
            return false;
    return true;
}

static int64_t cut_stream(struct what_if *w, uint32_t l, const struct peer_path *x)
{
    const struct call_view *calls = trace_view_calls(&w->view, l);
    int64_t cut = 0;

    for (uint32_t row = 0; row < calls->n; row++)
        if (calls->region[row] == x->kernel && calls->subtree_len[row] == 1)
            cut += replay_cut(
                &w->replay, l, row,
                llrint((double)calls->inclusive_ns[row] * (1 - 1 / x->kernel_factor)));
    return cut;
}

int64_t peer_devices_cut(const struct peers *peers, uint32_t place, bool is_perhaps,
                         struct what_if *w)
{
    const struct peer_place *p = &peers->place[place];
    int64_t cut = 0;

    for (uint32_t i = 0; i < p->n_paths; i++) {
        if (!is_to_cut(p, i, is_perhaps))
            continue;
        for (uint32_t l = 0; l < w->view.n_locations; l++)
            if (w->view.defs->location[l].is_gpu &&
                place_of_rank(peers, &w->view.defs->location[l]) == place)
                cut += cut_stream(w, l, &p->path[i]);
    }
    return cut;
}

/* --------------------------------------------------------------------------------- costs */

#define WORTH_A_RANGE 0.02 /* of an excess: it may be off by that */

/* What is known exactly is the same all ways. */
enum bound { AS_IT_IS, AT_LEAST, AT_MOST, NOT_SLOW };

/* By how much the log of a factor may be off. */
static double factor_off(const struct peer_path *x)
{
    return x->off + PEERS_ERRORS * x->error;
}

static double factor_at(const struct peer_path *x, enum bound way)
{
    switch (way) {
    case AS_IT_IS:
        return x->factor;
    case AT_LEAST:
        return fmax(x->factor * exp(-factor_off(x)), 1);
    case AT_MOST:
        return fmax(x->factor * exp(factor_off(x)), x->most_factor);
    default:
        return 1;
    }
}

static double share_at(const struct peer_path *x, enum bound way)
{
    return 1 - 1 / factor_at(x, way);
}

/* Whether what a place is slow by may be much more, or less. */
static bool may_be_off(const struct peer_place *place)
{
    double off_ns = place->maybe_ns, excess_ns = 0;

    for (uint32_t i = 0; i < place->n_paths; i++) {
        const struct peer_path *x = &place->path[i];

        if (!x->is_sure)
            continue;
        excess_ns += x->excess_ns;
        if (x->kernel_factor == 0 && x->factor > 1)
            off_ns += x->excess_ns * fmax(share_at(x, AT_MOST) / share_at(x, AS_IT_IS) - 1,
                                          1 - share_at(x, AT_LEAST) / share_at(x, AS_IT_IS));
    }
    return off_ns > WORTH_A_RANGE * excess_ns;
}

bool peers_is_to_blame(const struct peer_place *place)
{
    return place->verdict == PEER_SLOW || place->verdict == PEER_IMBALANCED;
}

/* By which calls on each path of a place take longer, of one stage, or may take longer at
 * least, or at most, which is also where it is not significant; or back to 1, as where they do
 * not. Calls that take longer and are more are so by both. */
static void set_factors(const struct peer_place *place, uint32_t stage, double *factor,
                        enum bound way)
{
    for (uint32_t i = 0; i < place->n_paths; i++) {
        const struct peer_path *x = &place->path[i];

        if ((x->is_sure || way >= AT_MOST) && x->kernel_factor == 0 &&
            (x->stage == NO_STAGE || x->stage == stage))
            factor[x->path] = way == NOT_SLOW ? 1 : factor[x->path] * factor_at(x, way);
    }
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

        is_known &= syncs_is_known(&w->syncs, forest->location[t]);
        mem_grow(&excess, &cap, forest->first[t + 1] - forest->first[t], sizeof *excess);
        find_excess(peers, place, &x, way, factor, excess);
        what_if_cut(w, forest, t, excess);
    }
    peer_devices_cut(peers, place, way >= AT_MOST, w);
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

/* ... and for what it is slow by at least, and may be. */
static void find_cost(struct what_if *w, const struct scoring *s, struct peers *peers,
                      uint32_t p, double *factor)
{
    struct peer_place *place = &peers->place[p];
    int64_t least_ns, most_ns;

    place->cost_ns = cost_of_place(w, s, peers, p, factor, AS_IT_IS);
    place->cost_least_ns = place->cost_most_ns = place->cost_ns;
    if (may_be_off(place)) {
        least_ns = cost_of_place(w, s, peers, p, factor, AT_LEAST);
        most_ns = cost_of_place(w, s, peers, p, factor, AT_MOST);
        place->cost_least_ns = least_ns < place->cost_ns ? least_ns : place->cost_ns;
        place->cost_most_ns = most_ns > place->cost_ns ? most_ns : place->cost_ns;
    }
    if (!syncs_are_exact(&w->syncs))
        place->cost_least_ns = 0;
}

/* The largest excess first: that is what costs most, if nothing else is known. */
static int by_excess(const void *a, const void *b)
{
    const struct peer_place *p = *(const struct peer_place *const *)a;
    const struct peer_place *q = *(const struct peer_place *const *)b;

    return ORDER(q->slow_ns + q->more_ns, p->slow_ns + p->more_ns) ?: ORDER(p, q);
}

/* The places to blame of which each is played. Returns how many. */
static uint32_t places_to_play(const struct peers *peers, const struct peer_place **place)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < peers->n; p++)
        if (peers_is_to_blame(&peers->place[p]))
            place[n++] = &peers->place[p];
    if (n <= PEERS_MAX_COSTS)
        return n;
    qsort(place, n, sizeof *place, by_excess);
    return PEERS_MAX_COSTS;
}

static void find_costs(struct what_if *w, const struct scoring *s, struct peers *peers)
{
    uint64_t run_ns = w->syncs.end_ns - w->syncs.begin_ns;
    const struct peer_place **played;
    struct replay_result result;
    bool is_known = true;
    double *factor;
    uint32_t n;

    if (!syncs_clocks_agree(&w->syncs)) /* the order says nothing of who waited for whom */
        return;
    factor = mem_alloc(s->model.paths.n, sizeof *factor);
    for (uint32_t i = 0; i < s->model.paths.n; i++)
        factor[i] = 1;
    played = mem_alloc(peers->n, sizeof *played);
    n = places_to_play(peers, played);
    for (uint32_t i = 0; i < n; i++)
        find_cost(w, s, peers, (uint32_t)(played[i] - peers->place), factor);
    for (uint32_t p = 0; p < peers->n; p++)
        if (peers->place[p].verdict == PEER_SLOW)
            is_known &= cut_place(w, s, peers, p, factor, AS_IT_IS);
    replay_run(&w->replay, &result);
    replay_clear(&w->replay);
    if (is_known && result.saved_ns < (int64_t)run_ns)
        peers->slowdown = (double)run_ns / ((double)run_ns - (double)result.saved_ns);
    free(factor);
    free(played);
}

/* ------------------------------------------------------------------------------- streams */

struct place_streams {
    const struct peers *peers;
    uint32_t place;
};

static bool is_of_place(uint32_t location, uint32_t region, void *ctx)
{
    const struct place_streams *kept = ctx;

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

    return ORDER(q->slowdown, p->slowdown) ?: ORDER(p->region, q->region);
}

static int by_sum(const void *a, const void *b)
{
    const struct peer_operation *p = a, *q = b;

    return ORDER(q->sum_ns, p->sum_ns) ?: ORDER(p->region, q->region);
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
            ideal_slowdown(&ideal, is_of_place, &(struct place_streams){peers, p});
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
    peers->is_bound = !syncs_are_exact(&w->syncs);
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
