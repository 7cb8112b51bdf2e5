/*
 * Instances write their statistics at different times, so one may be ahead of others in all it
 * does. That is its progress: the middle of how many calls it has of each function, over what
 * the middle rank has. Only what is more than that is more to do.
 */
#include "monitor/live_slow.h"

#include "base/mem.h"
#include "base/order.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>

struct slow_finder {
    struct slow_table *table;
    struct slow_rank *rank;
    double *progress; /* [n_ranks] */
    double *scratch;  /* [n_ranks] */
    uint32_t n_tests;
};

/* All cells of one function of a program. */
struct function_cells {
    const struct slow_cell *cell;
    size_t n;
};

static int by_function(const void *a, const void *b)
{
    const struct slow_cell *x = a, *y = b;

    return ORDER(x->function, y->function) ?:
           ORDER(x->program, y->program) ?:
           ORDER(x->rank, y->rank);
}

/* The group that begins at a cell. */
static struct function_cells group_at(const struct slow_table *t, size_t first)
{
    const struct slow_cell *cell = t->cell + first;
    size_t n = 1;

    while (first + n < t->n_cells && cell[n].function == cell->function &&
           cell[n].program == cell->program)
        n++;
    return (struct function_cells){cell, n};
}

double slow_factor(const struct slow_rank *r)
{
    bool has_role = r->verdict == PEER_IMBALANCED || r->verdict == PEER_INCONCLUSIVE;

    return peers_factor(r->own_ns, r->slow_ns, has_role ? r->more_ns + r->maybe_ns : 0,
                        r->peers_ns);
}

/* Middle and width of values in scratch, whose order is changed. */
static double middle_of(double *x, uint32_t n, double *width)
{
    double middle = robust_quantile(x, n, 0.5);

    *width = peers_width(x, n, middle);
    return middle;
}

/* -------------------------------------------------------------------------------- progress */

static double middle_calls(struct slow_finder *f, const struct function_cells *g)
{
    for (size_t i = 0; i < g->n; i++)
        f->scratch[i] = (double)g->cell[i].n_calls;
    return robust_quantile(f->scratch, g->n, 0.5);
}

/* A share of calls, of one rank. */
struct rank_share {
    uint32_t rank;
    double share;
};

static int by_rank_share(const void *a, const void *b)
{
    const struct rank_share *x = a, *y = b;

    return ORDER(x->rank, y->rank) ?: ORDER(x->share, y->share);
}

static void find_progress(struct slow_finder *f)
{
    const struct slow_table *t = f->table;
    struct rank_share *share = mem_alloc(t->n_cells, sizeof *share);
    size_t n = 0, first, end;

    for (size_t i = 0; i < t->n_cells;) {
        struct function_cells g = group_at(t, i);
        double middle = middle_calls(f, &g);

        for (size_t k = 0; k < g.n && g.n >= PEERS_MIN_PLACES; k++)
            share[n++] =
                (struct rank_share){g.cell[k].rank, (double)g.cell[k].n_calls / middle};
        i += g.n;
    }
    if (n > 0)
        qsort(share, n, sizeof *share, by_rank_share);
    for (uint32_t r = 0; r < t->n_ranks; r++)
        f->progress[r] = 1;
    for (first = 0; first < n; first = end) {
        for (end = first; end < n && share[end].rank == share[first].rank; end++)
            ;
        f->progress[share[first].rank] = share[first + (end - first) / 2].share;
    }
    free(share);
}

/* --------------------------------------------------------------------------------- judging */

/* The largest ones, those that are sure first. */
static void name_function(struct slow_rank *r, const struct slow_function *found)
{
    uint32_t at = r->n_in;

    while (at > 0 && (found->is_sure > r->in[at - 1].is_sure ||
                      (found->is_sure == r->in[at - 1].is_sure &&
                       found->excess_ns > r->in[at - 1].excess_ns)))
        at--;
    if (at == SLOW_MAX_NAMED)
        return;
    if (r->n_in < SLOW_MAX_NAMED)
        r->n_in++;
    for (uint32_t i = r->n_in - 1; i > at; i--)
        r->in[i] = r->in[i - 1];
    r->in[at] = *found;
}

static void take(struct slow_rank *r, const struct slow_function *found)
{
    if (found->excess_ns < PEERS_WORTH_NAMING * (r->own_ns + r->wait_ns))
        return;
    if (found->is_more)
        r->more_ns += found->excess_ns;
    else if (found->is_sure)
        r->slow_ns += found->excess_ns;
    else
        r->maybe_ns += found->excess_ns;
    name_function(r, found);
}

/* Those that have called it often enough for a mean. Returns how many. */
static uint32_t list_means(struct slow_finder *f, const struct function_cells *g)
{
    uint32_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        if (g->cell[i].n_calls >= PEERS_MIN_CALLS)
            f->scratch[n++] = g->cell[i].mean_ns;
    return n;
}

static void judge_times(struct slow_finder *f, const struct function_cells *g)
{
    uint32_t n = list_means(f, g);
    double middle, width;

    if (n < PEERS_MIN_PLACES)
        return;
    middle = middle_of(f->scratch, n, &width);
    if (middle <= 0)
        return;
    width = fmax(width / middle, PEERS_MIN_WIDTH);
    for (size_t i = 0; i < g->n; i++) {
        const struct slow_cell *c = &g->cell[i];
        struct slow_function found = {.function = c->function,
                                      .factor = c->mean_ns / middle,
                                      .excess_ns = (c->mean_ns - middle) * (double)c->n_calls};
        double error = c->deviation_ns / sqrt((double)c->n_calls) / middle, chance;

        if (c->n_calls < PEERS_MIN_CALLS || found.factor < PEERS_MIN_FACTOR)
            continue;
        chance = f->n_tests * peers_chance(found.factor - 1, width, n, error);
        found.is_sure = chance <= PEERS_FALSE_ALARMS;
        found.is_more = found.is_sure && found.factor >= PEERS_ROLE_FACTOR;
        if (chance <= PEERS_MAYBE * PEERS_FALSE_ALARMS)
            take(&f->rank[c->rank], &found);
    }
}

static double calls_of(const struct slow_finder *f, const struct slow_cell *c)
{
    return (double)c->n_calls / f->progress[c->rank];
}

static double middle_mean(struct slow_finder *f, const struct function_cells *g)
{
    for (size_t i = 0; i < g->n; i++)
        f->scratch[i] = g->cell[i].mean_ns;
    return robust_quantile(f->scratch, g->n, 0.5);
}

static void judge_tasks(struct slow_finder *f, const struct function_cells *g)
{
    double mean_ns = middle_mean(f, g), middle, width;

    for (size_t i = 0; i < g->n; i++)
        f->scratch[i] = calls_of(f, &g->cell[i]);
    middle = middle_of(f->scratch, (uint32_t)g->n, &width);
    for (size_t i = 0; i < g->n; i++) {
        double n_calls = calls_of(f, &g->cell[i]), more = n_calls - middle;
        struct slow_function found = {.function = g->cell[i].function,
                                      .is_more = true,
                                      .is_sure = true,
                                      .factor = n_calls / middle,
                                      .excess_ns =
                                          more * f->progress[g->cell[i].rank] * mean_ns};

        if (more > fmax(PEERS_TASK_WIDTHS * width, 1) && found.factor >= PEERS_MIN_FACTOR)
            take(&f->rank[g->cell[i].rank], &found);
    }
}

/* -------------------------------------------------------------------------------- verdicts */

static void judge_work(struct slow_rank *r)
{
    double least_ns = PEERS_MATERIAL * (r->own_ns + r->wait_ns);

    if (r->more_ns >= fmax(least_ns, r->slow_ns))
        r->verdict = PEER_IMBALANCED;
    else if (r->slow_ns >= least_ns)
        r->verdict = PEER_SLOW;
    else if (r->slow_ns + r->maybe_ns >= least_ns)
        r->verdict = PEER_INCONCLUSIVE;
}

static double wait_share(const struct slow_rank *r)
{
    return r->wait_ns / fmax(r->own_ns + r->wait_ns, 1);
}

/* Those that wait more than the one with most excess does. */
static void judge_waits(const struct slow_finder *f)
{
    const struct slow_rank *culprit = NULL;

    for (uint32_t i = 0; i < f->table->n_ranks; i++) {
        const struct slow_rank *r = &f->rank[i];

        if ((r->verdict == PEER_SLOW || r->verdict == PEER_IMBALANCED) &&
            (culprit == NULL || r->slow_ns + r->more_ns > culprit->slow_ns + culprit->more_ns))
            culprit = r;
    }
    for (uint32_t i = 0; culprit && i < f->table->n_ranks; i++) {
        struct slow_rank *r = &f->rank[i];

        if (r->is_compared && r->verdict == PEER_TYPICAL &&
            wait_share(r) > wait_share(culprit) + PEERS_WAIT_MATERIAL)
            r->verdict = PEER_WAITS;
    }
}

/* Own work and waiting of each rank. */
static void add_times(struct slow_finder *f)
{
    const struct slow_table *t = f->table;
    double least_ns = INFINITY;

    for (size_t i = 0; i < t->n_cells; i++) {
        const struct slow_cell *c = &t->cell[i];
        double ns = c->mean_ns * (double)c->n_calls;

        if (t->is_waiting[c->function])
            f->rank[c->rank].wait_ns += ns;
        else
            f->rank[c->rank].own_ns += ns;
        f->n_tests += !t->is_waiting[c->function] && c->n_calls >= PEERS_MIN_CALLS;
    }
    for (uint32_t i = 0; i < t->n_ranks; i++)
        if (f->rank[i].own_ns > 0)
            least_ns = fmin(least_ns, f->rank[i].own_ns);
    for (uint32_t i = 0; i < t->n_ranks; i++)
        f->rank[i].peers_ns = least_ns;
}

static void judge_group(struct slow_finder *f, const struct function_cells *g)
{
    if (g->n < PEERS_MIN_PLACES)
        return;
    for (size_t i = 0; i < g->n; i++)
        f->rank[g->cell[i].rank].is_compared = true;
    if (f->table->is_waiting[g->cell->function])
        return;
    judge_times(f, g);
    judge_tasks(f, g);
}

uint32_t slow_find(struct slow_table *t, struct slow_rank *rank)
{
    struct slow_finder f = {.table = t, .rank = rank};
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_ranks; i++)
        rank[i] = (struct slow_rank){.verdict = PEER_TYPICAL};
    add_times(&f);
    f.progress = mem_alloc(t->n_ranks, sizeof *f.progress);
    f.scratch = mem_alloc(t->n_ranks, sizeof *f.scratch);
    if (t->n_cells > 0)
        qsort(t->cell, t->n_cells, sizeof *t->cell, by_function);
    find_progress(&f);
    for (size_t i = 0; i < t->n_cells;) {
        struct function_cells g = group_at(t, i);

        judge_group(&f, &g);
        i += g.n;
    }
    for (uint32_t i = 0; i < t->n_ranks; i++) {
        n += rank[i].is_compared;
        judge_work(&rank[i]);
    }
    judge_waits(&f);
    free(f.progress);
    free(f.scratch);
    return n;
}
