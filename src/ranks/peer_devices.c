#include "ranks/peer_devices.h"

#include "base/mem.h"
#include "explain/waiting.h"
#include "features/robust.h"

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
            if (!waiting_others_ns(view, forest->location[t], forest_row(forest, t, v), &ns) ||
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
    double usual;

    for (uint32_t p = 0; p < n_places; p++) {
        size_t other = (size_t)p * k->n_regions + r;

        if (p != place && k->n[other] > 0)
            scratch[n++] = k->sum_ns[other] / k->n[other];
    }
    if (n == 0 || k->n[at] == 0 || k->is_exchange[r])
        return 0;
    usual = robust_quantile(scratch, n, 0.5);
    *factor = usual > 0 ? k->sum_ns[at] / k->n[at] / usual : 1;
    return k->sum_ns[at] - usual * k->n[at];
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

/* Whether an earlier path of the place has the same kernel. */
static bool is_again(const struct peer_place *place, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (place->path[k].kernel_factor > 0 && place->path[k].kernel == place->path[i].kernel)
            return true;
    return false;
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

int64_t peer_devices_cut(const struct peers *peers, uint32_t place, struct what_if *w)
{
    const struct peer_place *p = &peers->place[place];
    int64_t cut = 0;

    for (uint32_t i = 0; i < p->n_paths; i++) {
        if (p->path[i].kernel_factor == 0 || is_again(p, i))
            continue;
        for (uint32_t l = 0; l < w->view.n_locations; l++)
            if (w->view.defs->location[l].is_gpu &&
                place_of_rank(peers, &w->view.defs->location[l]) == place)
                cut += cut_stream(w, l, &p->path[i]);
    }
    return cut;
}
