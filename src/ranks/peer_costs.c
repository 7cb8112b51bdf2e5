/*
 * The run is replayed with the calls of a place as fast, and as many, as those of its
 * peers. What a place waits for its own GPUs, and for its thread of autograd, is its own work:
 * that is split from what it waits for others before places are compared, named by what takes
 * longer there after that, and taken out of that, not of the waits, when the run is played.
 */
#include "ranks/peer_costs.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "explain/waiting.h"
#include "features/robust.h"
#include "ranks/peer_few.h"
#include "ranks/peers.h"
#include "replay/what_if.h"

#include <math.h>
#include <stdlib.h>

#define KERNEL_SHARE 0.5 /* of what a wait takes longer: it is for that operation */

/* Who works while a call of an execution waits. */
enum helper { HELPER_NONE, HELPER_GPU, HELPER_THREAD };

static enum helper helper_of(const struct region *region)
{
    if (region->kind == REGION_DEVICE)
        return HELPER_GPU;
    return region_is_autograd_wait(region) ? HELPER_THREAD : HELPER_NONE;
}

static enum helper helper_of_path(const struct scoring *s, uint32_t path)
{
    return helper_of(&s->defs->region[s->model.paths.region[path]]);
}

/* The first row of a lane that may be of a call at a moment: the outermost one before it. */
static uint32_t row_at(const struct call_view *calls, uint64_t time_ns)
{
    uint32_t row = (uint32_t)lower_bound_u64(calls->enter_ns, calls->n, time_ns);

    row -= row > 0;
    while (row > 0 && calls->depth[row] > 0)
        row--;
    return row;
}

/* How long a thread was at work between two moments: in calls, but in none that may wait. */
static uint64_t worked_ns(const struct trace_view *view, uint32_t location, uint64_t begin_ns,
                          uint64_t end_ns)
{
    const struct call_view *calls = trace_view_calls(view, location);
    uint64_t seen_ns = begin_ns, waited_ns = begin_ns, ns = 0; /* until then they are counted */

    for (uint32_t row = row_at(calls, begin_ns);
         row < calls->n && calls->enter_ns[row] < end_ns; row++) {
        uint64_t from = calls->enter_ns[row], until = calls_leave(calls, row);

        until = until < end_ns ? until : end_ns;
        if (until > seen_ns) {
            ns += until - (from > seen_ns ? from : seen_ns);
            seen_ns = until;
        }
        if (until > waited_ns && waiting_is_likely(&view->defs->region[calls->region[row]])) {
            ns -= until - (from > waited_ns ? from : waited_ns);
            waited_ns = until;
        }
    }
    return ns;
}

bool peer_is_other_thread(const struct trace_view *view, uint32_t location, uint32_t other)
{
    const struct location *a = &view->defs->location[location];
    const struct location *b = &view->defs->location[other];

    return location != other && a->rank == b->rank && !b->is_gpu;
}

/* Of a wait for another thread of the rank, what that was not at work for. */
static uint64_t thread_waited_ns(struct peers *peers, const struct trace_view *view,
                                 uint32_t location, uint32_t row)
{
    uint64_t begin_ns = view->calls[location].enter_ns[row],
             end_ns = calls_leave(&view->calls[location], row), ns;
    struct waiting w;

    waiting_of(view, location, row, begin_ns, end_ns, &w);
    if (w.location >= view->n_locations || !peer_is_other_thread(view, location, w.location))
        return end_ns - begin_ns;
    peers->is_helper[w.location] = true;
    ns = worked_ns(view, w.location, begin_ns, end_ns);
    return end_ns - begin_ns - ns;
}

static void find_waits(struct peers *peers, const struct scoring *s,
                       const struct trace_view *view)
{
    const struct forest *forest = &s->forest;

    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            enum helper of = helper_of(&s->defs->region[forest->region[v]]);
            uint32_t l = forest->location[t];
            bool is_known = true;
            uint64_t ns;

            if (of == HELPER_NONE)
                continue;
            if (of == HELPER_THREAD)
                ns = thread_waited_ns(peers, view, l, forest_row(forest, t, v));
            else
                is_known = waiting_others_ns(view, l, forest_row(forest, t, v), NAN, &ns);
            if (!is_known || ns > forest->exclusive_ns[v])
                ns = forest->exclusive_ns[v];
            peers->waited_ns[v] = (double)ns;
        }
}

void peer_helpers_split(struct peers *peers, const struct scoring *s,
                        const struct trace_view *view)
{
    bool has_any = false;

    for (uint32_t p = 0; p < s->model.paths.n; p++)
        if (helper_of_path(s, p) != HELPER_NONE) {
            peers->is_waiting[p] = false;
            has_any = true;
        }
    if (!has_any)
        return;
    peers->waited_ns = mem_alloc(s->forest.n, sizeof *peers->waited_ns);
    peers->is_helper = mem_alloc(view->n_locations, sizeof *peers->is_helper);
    find_waits(peers, s, view);
}

/* ----------------------------------------------------------------- what they have to do */

/* What the GPUs, or the threads that are waited for, of all places did. */
struct kernels {
    enum helper of;
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

/* The place that a lane helps so, or PEERS_NONE. */
static uint32_t place_helped(const struct peers *peers, const struct trace_view *view,
                             uint32_t l, enum helper of)
{
    const struct location *location = &view->defs->location[l];
    bool is_one = of == HELPER_GPU ? location->is_gpu : peers->is_helper[l];

    return is_one ? place_of_rank(peers, location) : PEERS_NONE;
}

/* What a call of a lane did itself: of a GPU's, one that calls others is their name alone. */
static uint64_t helped_ns(const struct call_view *calls, uint32_t row, enum helper of)
{
    uint32_t end = row + calls->subtree_len[row];
    uint64_t ns = calls->inclusive_ns[row];

    if (of == HELPER_GPU)
        return calls->subtree_len[row] == 1 ? ns : 0;
    for (uint32_t below = row + 1; below < end; below += calls->subtree_len[below])
        ns -= calls->inclusive_ns[below];
    return ns;
}

static void add_lane(struct kernels *k, const struct definitions *defs,
                     const struct call_view *calls, uint32_t place)
{
    for (uint32_t row = 0; row < calls->n; row++) {
        size_t at = (size_t)place * k->n_regions + calls->region[row];

        if (k->of == HELPER_GPU && calls->subtree_len[row] != 1)
            continue;
        k->sum_ns[at] += (double)helped_ns(calls, row, k->of);
        k->n[at]++;
        k->is_exchange[calls->region[row]] |=
            k->of == HELPER_THREAD && waiting_is_likely(&defs->region[calls->region[row]]);
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
        x->is_of_thread = k->of == HELPER_THREAD;
    }
    if (x->kernel_factor == 0 || most <= x->excess_ns || !x->is_sure)
        return;
    *(x->is_more ? &place->more_ns : &place->slow_ns) += most - x->excess_ns;
    x->excess_ns = most;
}

/* Names what those who help so take longer for. */
static void name_of(struct peers *peers, const struct scoring *s, const struct trace_view *view,
                    enum helper of)
{
    uint32_t n_regions = s->defs->names.n;
    size_t n = (size_t)peers->n * n_regions;
    struct kernels k = {.of = of, .n_regions = n_regions};
    double *scratch;
    bool is_any = false;

    for (uint32_t p = 0; p < peers->n; p++)
        for (uint32_t i = 0; i < peers->place[p].n_paths; i++)
            is_any |= helper_of_path(s, peers->place[p].path[i].path) == of;
    if (!is_any)
        return;
    k.sum_ns = mem_alloc(n, sizeof *k.sum_ns);
    k.n = mem_alloc(n, sizeof *k.n);
    k.is_exchange = mem_alloc(n_regions, sizeof *k.is_exchange);
    scratch = mem_alloc(peers->n, sizeof *scratch);
    for (uint32_t l = 0; l < view->n_locations; l++) {
        uint32_t place = place_helped(peers, view, l, of);

        if (place != PEERS_NONE)
            add_lane(&k, s->defs, trace_view_calls(view, l), place);
    }
    for (uint32_t p = 0; p < peers->n; p++)
        for (uint32_t i = 0; i < peers->place[p].n_paths; i++)
            if (helper_of_path(s, peers->place[p].path[i].path) == of)
                name_kernel(&k, peers, p, scratch, &peers->place[p].path[i]);
    free(k.sum_ns);
    free(k.n);
    free(k.is_exchange);
    free(scratch);
}

void peer_helpers_name(struct peers *peers, const struct scoring *s,
                       const struct trace_view *view)
{
    if (peers->opts.by != PEERS_BY_RANK)
        return;
    name_of(peers, s, view, HELPER_GPU);
    name_of(peers, s, view, HELPER_THREAD);
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

static int64_t cut_lane(struct what_if *w, uint32_t l, const struct peer_path *x,
                        enum helper of)
{
    const struct call_view *calls = trace_view_calls(&w->view, l);
    double share = 1 - 1 / x->kernel_factor;
    int64_t cut = 0;

    for (uint32_t row = 0; row < calls->n; row++)
        if (calls->region[row] == x->kernel)
            cut += replay_cut(&w->replay, l, row,
                              llrint((double)helped_ns(calls, row, of) * share));
    return cut;
}

int64_t peer_helpers_cut(const struct peers *peers, uint32_t place, bool is_perhaps,
                         struct what_if *w)
{
    const struct peer_place *p = &peers->place[place];
    int64_t cut = 0;

    for (uint32_t i = 0; i < p->n_paths; i++) {
        enum helper of = p->path[i].is_of_thread ? HELPER_THREAD : HELPER_GPU;

        if (!is_to_cut(p, i, is_perhaps))
            continue;
        for (uint32_t l = 0; l < w->view.n_locations; l++)
            if (place_helped(peers, &w->view, l, of) == place)
                cut += cut_lane(w, l, &p->path[i], of);
    }
    return cut;
}

/* --------------------------------------------------------------------------------- costs */

#define WORTH_A_RANGE 0.02 /* of an excess: it may be off by that */

/* What is known exactly is the same all ways. EACH_CALL: where no one factor says it, each call
 * takes what such calls of the others do, else as it is. */
enum bound { AS_IT_IS, AT_LEAST, EACH_CALL, AT_MOST, NOT_SLOW };

/* By how much the log of a factor may be off. */
static double factor_off(const struct peer_path *x)
{
    return x->off + PEERS_ERRORS * x->error;
}

static double factor_at(const struct peer_path *x, enum bound way)
{
    switch (way) {
    case AS_IT_IS:
    case EACH_CALL:
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
        if (x->is_part)
            continue;
        off_ns += x->others > 0 ? x->excess_ns : 0;
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

/* Of a call that is to take what such calls of the others do; NULL: of a path on which a factor
 * says it. No factor does where only some executions take longer. */
static const struct peer_path *others_of(const struct peer_place *place, uint32_t path,
                                         uint32_t stage, enum bound way)
{
    for (uint32_t i = 0; i < place->n_paths; i++)
        if (place->path[i].path == path && place->path[i].others > 0 &&
            (way == EACH_CALL || place->path[i].is_part) &&
            (place->path[i].stage == NO_STAGE || place->path[i].stage == stage))
            return &place->path[i];
    return NULL;
}

/* Over what such calls of the others take. In a part of the executions those that are long count. */
static double excess_over(const struct peer_path *of, double own_ns, double others_ns)
{
    return of->is_part && own_ns <= PEERS_LONG * others_ns ? 0 : own_ns - others_ns;
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
        double own_ns = (double)forest->exclusive_ns[first + i];
        const struct peer_path *of = NULL;

        excess[i] = 0;
        if (path == PATH_NONE)
            continue;
        if (factor[path] != 1)
            of = others_of(&peers->place[place], path, stage, way);
        if (of == NULL)
            excess[i] = own_ns * (1 - 1 / factor[path]);
        else
            excess[i] = excess_over(
                of, own_ns,
                of->others * peer_typical_ns(x->model, x->place, forest, x->tree, first + i));
    }
    set_factors(&peers->place[place], stage, factor, NOT_SLOW);
}

void peers_excess(const struct peers *peers, uint32_t place, const struct peer_execution *x,
                  double *factor, double *excess)
{
    find_excess(peers, place, x, EACH_CALL, factor, excess);
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
        const struct peer_execution x = {s->defs, &s->model, forest, &s->place, t};

        is_known &= syncs_is_known(&w->syncs, forest->location[t]);
        mem_grow(&excess, &cap, forest->first[t + 1] - forest->first[t]);
        find_excess(peers, place, &x, way, factor, excess);
        what_if_cut(w, forest, t, excess);
        what_if_cut_teams(w, forest, t, excess);
    }
    peer_helpers_cut(peers, place, way >= AT_MOST, w);
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
    int64_t least_ns, most_ns, each_ns;

    place->cost_ns = cost_of_place(w, s, peers, p, factor, AS_IT_IS);
    place->cost_least_ns = place->cost_most_ns = place->cost_ns;
    if (may_be_off(place)) {
        least_ns = cost_of_place(w, s, peers, p, factor, AT_LEAST);
        each_ns = cost_of_place(w, s, peers, p, factor, EACH_CALL);
        most_ns = cost_of_place(w, s, peers, p, factor, AT_MOST);
        least_ns = each_ns < least_ns ? each_ns : least_ns;
        most_ns = each_ns > most_ns ? each_ns : most_ns;
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
