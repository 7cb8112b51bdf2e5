#include "ranks/peer_few.h"

#include "base/mem.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>

#define MAX_APART 1.1       /* executions of a place over another's: more are no pairs */
#define MORE_SHARE 0.5      /* of an excess that is explained by more calls: it is more to do */
#define ALL_OF_IT 0.9       /* of the time on a path: then no other comes by */
#define MIN_INDEPENDENT 8.0 /* pairs, however much alike they are */

struct few {
    const struct scoring *w;
    const struct peer_cells *cells;
    struct peers *out;
    uint32_t n_common; /* executions of each place that have one of each other */
    double *own_ns;    /* [places][n_common] */
};

/* ----------------------------------------------------------------------------- executions */

/* Executions that all have; 0 when they are not the same ones. */
static uint32_t count_common(const struct peers *peers)
{
    uint32_t least = UINT32_MAX, most = 0;

    for (uint32_t p = 0; p < peers->n; p++) {
        uint32_t n = peers->place[p].n_executions;

        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    return most <= MAX_APART * least ? least : 0;
}

static void add_own(struct few *f)
{
    f->own_ns = mem_alloc((size_t)f->out->n * f->n_common, sizeof *f->own_ns);
    for (uint32_t p = 0; p < f->out->n; p++)
        for (uint32_t i = 0; i < f->n_common; i++)
            f->own_ns[(size_t)p * f->n_common + i] =
                peer_own_ns(f->w, f->out, f->out->tree[f->out->first_tree[p] + i]);
}

/* The middle of what the others have of value (n). */
static double middle_but(uint32_t n, uint32_t but, const double *value)
{
    double others[PEERS_MIN_PLACES];
    uint32_t n_others = 0;

    for (uint32_t p = 0; p < n; p++)
        if (p != but)
            others[n_others++] = value[p];
    return robust_quantile(others, n_others, 0.5);
}

/* ---------------------------------------------------------------------------------- a place */

struct peer_signs peer_signs_of(const double *own_ns, uint32_t n_places, uint32_t n,
                                uint32_t place)
{
    struct peer_signs s = {.factor = 1};
    double *factor = mem_alloc(n, sizeof *factor),
           *others = mem_alloc(n_places, sizeof *others);
    bool was_above = false;

    for (uint32_t i = 0; i < n; i++) {
        double own = own_ns[(size_t)place * n + i], middle;
        uint32_t n_others = 0;
        bool is_above;

        for (uint32_t p = 0; p < n_places; p++)
            if (p != place && !isnan(own_ns[(size_t)p * n + i]))
                others[n_others++] = own_ns[(size_t)p * n + i];
        if (isnan(own) || n_others == 0)
            continue;
        middle = robust_quantile(others, n_others, 0.5);
        factor[s.n] = own / fmax(middle, 1);
        is_above = own > middle;
        s.n_above += is_above;
        s.n_same += s.n > 0 && is_above == was_above;
        was_above = is_above;
        s.n++;
    }
    if (s.n > 0)
        s.factor = robust_quantile(factor, s.n, 0.5);
    free(factor);
    free(others);
    return s;
}

/*
 * That so many executions of a place are longer though it is like the others. Executions that
 * follow each other may be alike for a reason that passes: n with a correlation r between
 * neighbours count for n (1 - r) / (1 + r). Of signs of which a share q is above, neighbours
 * would be alike in q^2 + (1 - q)^2 of cases by chance.
 */
double peer_signs_chance(const struct peer_signs *s)
{
    double share = (double)s->n_above / s->n, alike = (double)s->n_same / (s->n - 1);
    double by_chance = share * share + (1 - share) * (1 - share), n = s->n, r = 0;

    if (by_chance < 1)
        r = fmin(fmax((alike - by_chance) / (1 - by_chance), 0), 0.99);
    n = fmax(n * (1 - r) / (1 + r), fmin(n, MIN_INDEPENDENT));
    return 0.5 * erfc((share - 0.5) * sqrt(n) * M_SQRT2);
}

/*
 * What the place spends on a path over the others, by what its calls there usually take, so
 * that a single one that was stopped does not count: they are slower than the others', or there
 * are more of them.
 */
static void judge_path(const struct few *f, uint32_t place, uint32_t path)
{
    struct peer_place *p = &f->out->place[place];
    const struct peer_cell *own = peer_cells_find(f->cells, place, path);
    struct peer_path x = {.path = path, .is_sure = true, .stage = NO_STAGE};
    double task_ns[PEERS_MIN_PLACES] = {0}, ratio[PEERS_MIN_PLACES] = {0}, slow_ns = 0, more_ns;

    if (own == NULL)
        return;
    for (uint32_t i = 0; i < f->out->n; i++) {
        const struct peer_cell *cell = peer_cells_find(f->cells, i, path);

        task_ns[i] = cell ? cell->usual_ns / f->out->place[i].n_executions : 0;
        ratio[i] = cell ? cell->ratio : own->ratio;
    }
    x.above = own->ratio - middle_but(f->out->n, place, ratio);
    if (x.above > 0)
        slow_ns = peer_cell_excess(own, x.above, f->w->model.offset_ns);
    more_ns = fmax(task_ns[place] - middle_but(f->out->n, place, task_ns), 0) * p->n_executions;
    x.excess_ns = fmin(slow_ns + more_ns, own->time_ns);
    if (x.excess_ns < PEERS_WORTH_NAMING * (p->own_ns + p->wait_ns))
        return;
    x.factor = x.excess_ns < ALL_OF_IT * own->time_ns
                   ? own->time_ns / (own->time_ns - x.excess_ns)
                   : INFINITY;
    x.is_more = more_ns >= MORE_SHARE * x.excess_ns || x.factor >= PEERS_ROLE_FACTOR;
    if (x.is_more)
        p->more_ns += x.excess_ns;
    else
        p->slow_ns += x.excess_ns;
    p->path = mem_resize(p->path, p->n_paths + 1, sizeof *p->path);
    p->path[p->n_paths++] = x;
}

static void judge_place(const struct few *f, uint32_t place, double chance)
{
    struct peer_place *p = &f->out->place[place];
    struct peer_signs signs = peer_signs_of(f->own_ns, f->out->n, f->n_common, place);
    double excess_ns;

    if (2 * signs.n_above <= signs.n || signs.factor < PEER_FEW_FACTOR ||
        f->out->n * peer_signs_chance(&signs) > chance)
        return;
    for (uint32_t path = 0; path < f->w->model.paths.n; path++)
        if (!f->out->is_waiting[path])
            judge_path(f, place, path);
    excess_ns = p->slow_ns + p->more_ns;
    if (excess_ns < PEERS_MATERIAL * (p->own_ns + p->wait_ns) ||
        p->own_ns < PEER_FEW_FACTOR * (p->own_ns - excess_ns)) {
        p->slow_ns = p->more_ns = 0;
        p->n_paths = 0;
        return;
    }
    p->verdict = p->more_ns > p->slow_ns ? PEER_IMBALANCED : PEER_SLOW;
}

void peer_few_judge(const struct scoring *scoring, const struct peer_cells *cells,
                    double chance, struct peers *peers)
{
    struct few f = {
        .w = scoring, .cells = cells, .out = peers, .n_common = count_common(peers)};

    if (f.n_common < PEER_FEW_EXECUTIONS || peers->n < PEER_FEW_MIN_PLACES) {
        for (uint32_t p = 0; p < peers->n; p++)
            peers->place[p].verdict = PEER_UNSURE;
        return;
    }
    add_own(&f);
    for (uint32_t p = 0; p < peers->n; p++)
        judge_place(&f, p, chance);
    free(f.own_ns);
}
