/*
 * Trees are gone through place by place, so that one mark per path tells what is known of it.
 * The history of places is made of the same: own work, and what is typical of it, by the time at
 * which executions began.
 */
#include "ranks/peer_cells.h"

#include "base/mem.h"
#include "base/search.h"
#include "features/robust.h"
#include "ranks/peers.h"

#include <math.h>
#include <stdlib.h>

#define MEDIAN_ERROR 1.2533 /* standard error of a median, in that of a mean */
#define MIN_NS 1.0          /* that a call typically takes, to have taken time */
#define CAP 2.0             /* typical times of a call that count in a sum of times */
#define SUMS_APART 0.05 /* by which a sum's ratio is above its calls', unlike those of others */
#define SUMS_ERRORS 3.0 /* and so many standard errors */

/* Ratios, each with its cell: of calls, or of what an execution has on a path. */
struct cell_values {
    uint32_t *cell;     /* [n] */
    double *ratio;      /* [n] */
    double *at[2];      /* [n] the least and the most that it may be; NULL where all is known */
    double *typical_ns; /* [n] until its sum is there; of calls NULL */
    size_t n;
};

/* Vertices of own work. */
struct cell_work {
    const struct scoring *w;
    struct peers *peers;
    struct cell_values calls, sums; /* sums: of paths that repeat */
    uint32_t *marked;               /* [paths] place that came by last, + 1 */
    uint32_t *next;                 /* [paths] cell of the next place */
    uint32_t *tree;                 /* [paths] execution that came by last, + 1 */
    size_t *sum;                    /* [paths] of that execution */
    bool *repeats;                  /* [paths] an execution has several calls on it */
    bool any_repeats;
};

double peer_ratio(const struct scoring *w, const struct peers *peers, uint32_t t, uint32_t v)
{
    const struct residual_context *c = residual_context(&w->model, &w->place, &w->forest, t, v);

    return log((peer_call_ns(w, peers, v) + w->model.offset_ns) / c->typical);
}

/*
 * Ratios are of times plus c, as times below the tick of the clock say nothing. Where c is
 * as long as the calls (in a leaf it is the shortest of them), calls that take 20 % longer have
 * a ratio of ln 1.1. Of calls that typically take no time, on a coarse clock, that is all
 * that is known.
 */
double peer_cell_excess(const struct peer_cell *cell, double above, double offset_ns)
{
    double added_ns = cell->typical_ns < cell->n_calls * MIN_NS ? 0 : cell->n_calls * offset_ns;
    double excess_ns = (cell->time_ns + added_ns) * (1 - exp(-above));

    return fmin(excess_ns, MAX_EXCESS * cell->time_ns);
}

static double value_at(size_t i, const void *ctx)
{
    const double *value = ctx;

    return value[i];
}

double peer_ratio_summed(const struct scoring *w, const struct peers *peers, uint32_t t,
                         uint32_t path)
{
    double own_ns = 0, typical_ns = 0;

    for (uint32_t v = w->forest.first[t]; v < w->forest.first[t + 1]; v++)
        if (residual_path(&w->place, &w->forest, t, v) == path) {
            own_ns += peer_call_ns(w, peers, v) + w->model.offset_ns;
            typical_ns += residual_context(&w->model, &w->place, &w->forest, t, v)->typical;
        }
    return typical_ns > 0 ? log(own_ns / typical_ns) : NAN;
}

/* By which its time, plus c, is multiplied if a call took so much longer, or shorter, as far as it can. */
static double factor_moved(const struct scoring *w, uint32_t v, double moved_ns)
{
    double time_ns = (double)w->forest.exclusive_ns[v], c = w->model.offset_ns;

    return (fmax(time_ns + moved_ns, 0) + c) / (time_ns + c);
}

double peer_own_ns(const struct scoring *scoring, const struct peers *peers, uint32_t tree)
{
    const struct forest *forest = &scoring->forest;
    double own_ns = 0;

    for (uint32_t v = forest->first[tree]; v < forest->first[tree + 1]; v++) {
        uint32_t path = residual_path(&scoring->place, forest, tree, v);

        if (path == PATH_NONE || !peers->is_waiting[path])
            own_ns += peer_call_ns(scoring, peers, v);
    }
    return own_ns;
}

/* Calls fn for each vertex, place by place. */
static void each_vertex(struct peer_cells *cells, struct cell_work *work,
                        void (*fn)(struct peer_cells *cells, struct cell_work *work,
                                   uint32_t place, uint32_t t, uint32_t v))
{
    const struct forest *forest = &work->w->forest;
    const struct peers *peers = work->peers;

    for (uint32_t p = 0; p < peers->n; p++)
        for (uint32_t i = peers->first_tree[p]; i < peers->first_tree[p + 1]; i++)
            for (uint32_t v = forest->first[peers->tree[i]];
                 v < forest->first[peers->tree[i] + 1]; v++)
                fn(cells, work, p, peers->tree[i], v);
}

/* Counts the places of a path; what is own work, too. */
static void count(struct peer_cells *cells, struct cell_work *work, uint32_t p, uint32_t t,
                  uint32_t v)
{
    uint32_t path = residual_path(&work->w->place, &work->w->forest, t, v);
    double time_ns = (double)work->w->forest.exclusive_ns[v],
           own_ns = peer_call_ns(work->w, work->peers, v);

    if (path != PATH_NONE && work->peers->is_waiting[path])
        own_ns = 0;
    work->peers->place[p].own_ns += own_ns;
    work->peers->place[p].wait_ns += time_ns - own_ns;
    if (path != PATH_NONE && work->peers->is_waiting[path])
        return;
    if (path == PATH_NONE)
        return;
    work->calls.n++;
    cells->first[path + 1] += work->marked[path] != p + 1;
    work->marked[path] = p + 1;
    work->repeats[path] |= work->tree[path] == t + 1;
    work->any_repeats |= work->tree[path] == t + 1;
    work->tree[path] = t + 1;
}

/* By how much a call may be longer, the other way (0) or this way (1). */
static double off_of(const struct scoring *w, uint32_t v, int way)
{
    return (way ? 1 : -1) * forest_call_off_ns(&w->forest, v);
}

/* To what its execution has on the path. */
static void add_to_sum(struct cell_work *work, uint32_t cell, uint32_t path, uint32_t t,
                       uint32_t v)
{
    const struct scoring *w = work->w;
    struct cell_values *sums = &work->sums;
    double ns = peer_call_ns(w, work->peers, v) + w->model.offset_ns;
    size_t i;

    if (work->tree[path] != t + 1) {
        work->sum[path] = i = sums->n++;
        sums->cell[i] = cell;
        sums->ratio[i] = sums->typical_ns[i] = 0;
        for (int way = 0; way < 2 && sums->at[way]; way++)
            sums->at[way][i] = 0;
    }
    work->tree[path] = t + 1;
    i = work->sum[path];
    sums->ratio[i] += ns;
    sums->typical_ns[i] += residual_context(&w->model, &w->place, &w->forest, t, v)->typical;
    for (int way = 0; way < 2 && sums->at[way]; way++)
        sums->at[way][i] += ns * factor_moved(w, v, off_of(w, v, way));
}

static void add(struct peer_cells *cells, struct cell_work *work, uint32_t p, uint32_t t,
                uint32_t v)
{
    const struct scoring *w = work->w;
    uint32_t path = residual_path(&w->place, &w->forest, t, v);
    struct peer_cell *cell;
    double own_ns, typical_ns;
    size_t i;

    if (path == PATH_NONE || work->peers->is_waiting[path])
        return;
    if (work->marked[path] != p + 1)
        cells->cell[work->next[path]++].place = p;
    work->marked[path] = p + 1;
    cell = &cells->cell[work->next[path] - 1];
    own_ns = peer_call_ns(w, work->peers, v);
    typical_ns = peer_typical_ns(&w->model, &w->place, &w->forest, t, v);
    cell->time_ns += own_ns;
    cell->typical_ns += typical_ns;
    cell->capped_ns += fmin(own_ns, CAP * fmax(typical_ns, 0));
    cell->n_calls++;
    i = work->calls.n++;
    work->calls.cell[i] = work->next[path] - 1;
    work->calls.ratio[i] = peer_ratio(w, work->peers, t, v);
    for (int way = 0; way < 2 && work->calls.at[way]; way++)
        work->calls.at[way][i] =
            work->calls.ratio[i] + log(factor_moved(w, v, off_of(w, v, way)));
    if (work->repeats[path])
        add_to_sum(work, work->next[path] - 1, path, t, v);
}

static void values_open(struct cell_values *values, size_t n, bool has_off)
{
    values->cell = mem_resize(NULL, n, sizeof *values->cell);
    values->ratio = mem_resize(NULL, n, sizeof *values->ratio);
    for (int way = 0; way < 2 && has_off; way++)
        values->at[way] = mem_resize(NULL, n, sizeof *values->at[way]);
}

static void values_release(struct cell_values *values)
{
    free(values->at[0]);
    free(values->at[1]);
    free(values->typical_ns);
    free(values->ratio);
    free(values->cell);
}

/* By how much middles may be off: most where all values are, the same way. */
static void find_offs(struct peer_cell *cell, const struct cell_values *values,
                      uint32_t n_cells, double width)
{
    struct spread *spread = mem_alloc(n_cells, sizeof *spread);
    uint32_t *n = mem_alloc(n_cells, sizeof *n);

    for (int way = 0; way < 2 && values->at[way]; way++) {
        const struct robust_items items = {values->n, values->cell,    n_cells,
                                           value_at,  values->at[way], NULL};

        robust_groups(&items, width, NULL, spread, n);
        for (uint32_t i = 0; i < n_cells; i++)
            cell[i].off = fmax(cell[i].off, fabs(spread[i].centre - cell[i].ratio));
    }
    free(spread);
    free(n);
}

/*
 * Sets ratio, error, off and n_values. The error of a middle is by how far values lie around it,
 * in the middle of them: the width that verdicts of calls have is that of their tail, and one
 * call in sixteen that is stopped says nothing of where the middle is.
 */
static void find_middles(struct peer_cell *cell, const struct cell_values *values,
                         uint32_t n_cells, double width)
{
    struct spread *spread = mem_alloc(n_cells, sizeof *spread);
    double *away = mem_resize(NULL, values->n, sizeof *away);
    uint32_t *n = mem_alloc(n_cells, sizeof *n);
    struct robust_items items = {values->n, values->cell,  n_cells,
                                 value_at,  values->ratio, NULL};

    robust_groups(&items, width, NULL, spread, n);
    for (uint32_t i = 0; i < n_cells; i++) {
        cell[i].n_values = n[i];
        cell[i].ratio = spread[i].centre;
    }
    for (size_t i = 0; i < values->n; i++)
        away[i] = fabs(values->ratio[i] - cell[values->cell[i]].ratio);
    items.ctx = away;
    robust_groups(&items, width, NULL, spread, n);
    for (uint32_t i = 0; i < n_cells; i++)
        cell[i].error =
            n[i] > 0 ? MEDIAN_ERROR * fmax(MAD_SIGMA * spread[i].centre, width) / sqrt(n[i])
                     : 0;
    free(away);
    free(spread);
    free(n);
    find_offs(cell, values, n_cells, width);
}

/* ------------------------------------------------------------------------------- sums */

double peer_middle(const double *value, uint32_t n, uint32_t but, double *scratch)
{
    uint32_t n_others = 0;

    for (uint32_t i = 0; i < n; i++)
        if (i != but || n >= PEERS_MIN_PLACES)
            scratch[n_others++] = value[i];
    return robust_quantile(scratch, n_others, 0.5);
}

/* Whether sums tell of a place of the path what its calls do not. apart, scratch: (n). */
static bool sums_tell_more(const struct peer_cell *calls, const struct peer_cell *sums,
                           uint32_t n, double *apart, double *scratch)
{
    for (uint32_t i = 0; i < n; i++)
        apart[i] = sums[i].ratio - calls[i].ratio;
    for (uint32_t i = 0; n > 1 && i < n; i++)
        if (sums[i].n_values >= PEERS_MIN_CALLS && apart[i] > SUMS_APART &&
            apart[i] - peer_middle(apart, n, i, scratch) >
                fmax(SUMS_APART, SUMS_ERRORS * hypot(calls[i].error, sums[i].error)))
            return true;
    return false;
}

/* Of executions, where these tell more. */
static void take_sums(struct peer_cells *cells, struct cell_work *work, uint32_t n_paths,
                      double width)
{
    struct cell_values *values = &work->sums;
    uint32_t n_cells = cells->first[n_paths], n_places = work->peers->n;
    struct peer_cell *sums = mem_alloc(n_cells, sizeof *sums);
    double *apart = mem_alloc(n_places, sizeof *apart);
    double *scratch = mem_alloc(n_places, sizeof *scratch);

    for (size_t i = 0; i < values->n; i++) {
        values->ratio[i] = log(values->ratio[i] / values->typical_ns[i]);
        for (int way = 0; way < 2 && values->at[way]; way++)
            values->at[way][i] = log(values->at[way][i] / values->typical_ns[i]);
    }
    find_middles(sums, values, n_cells, width);
    for (uint32_t p = 0; p < n_paths; p++) {
        struct peer_cell *cell = cells->cell + cells->first[p];
        const struct peer_cell *sum = sums + cells->first[p];
        uint32_t n = cells->first[p + 1] - cells->first[p];

        if (!work->repeats[p] || !sums_tell_more(cell, sum, n, apart, scratch))
            continue;
        cells->is_summed[p] = true;
        for (uint32_t i = 0; i < n; i++) {
            cell[i].n_values = sum[i].n_values;
            cell[i].ratio = sum[i].ratio;
            cell[i].error = sum[i].error;
            cell[i].off = sum[i].off;
        }
    }
    free(scratch);
    free(apart);
    free(sums);
}

/* A stream on which no work is done does not wait. */
static void forget_idle(const struct cell_work *work, uint32_t tree, struct peer_place *place)
{
    const struct forest *forest = &work->w->forest;
    double wait_ns = 0;

    for (uint32_t v = forest->first[tree]; v < forest->first[tree + 1]; v++) {
        uint32_t path = residual_path(&work->w->place, forest, tree, v);

        if (path == PATH_NONE || !work->peers->is_waiting[path])
            return;
        wait_ns += (double)forest->exclusive_ns[v];
    }
    place->wait_ns -= wait_ns;
}

void peer_cells_make(struct peer_cells *cells, const struct scoring *scoring, double width,
                     struct peers *peers)
{
    uint32_t n_paths = scoring->model.paths.n;
    struct cell_work work = {.w = scoring, .peers = peers};

    cells->first = mem_alloc((size_t)n_paths + 1, sizeof *cells->first);
    cells->is_summed = mem_alloc(n_paths, sizeof *cells->is_summed);
    work.marked = mem_alloc(n_paths, sizeof *work.marked);
    work.tree = mem_alloc(n_paths, sizeof *work.tree);
    work.sum = mem_alloc(n_paths, sizeof *work.sum);
    work.repeats = mem_alloc(n_paths, sizeof *work.repeats);
    each_vertex(cells, &work, count);
    for (uint32_t t = 0; peers->is_of_streams && t < scoring->forest.n_trees; t++)
        forget_idle(&work, t, &peers->place[peers->of[t]]);
    for (uint32_t p = 0; p < n_paths; p++)
        cells->first[p + 1] += cells->first[p];
    cells->cell = mem_alloc(cells->first[n_paths], sizeof *cells->cell);
    values_open(&work.calls, work.calls.n, scoring->forest.off_ns);
    if (work.any_repeats) {
        values_open(&work.sums, work.calls.n, scoring->forest.off_ns);
        work.sums.typical_ns = mem_resize(NULL, work.calls.n, sizeof *work.sums.typical_ns);
    }
    work.next = mem_alloc(n_paths, sizeof *work.next);
    work.calls.n = 0;
    for (uint32_t p = 0; p < n_paths; p++) {
        work.next[p] = cells->first[p];
        work.marked[p] = work.tree[p] = 0;
    }
    each_vertex(cells, &work, add);
    find_middles(cells->cell, &work.calls, cells->first[n_paths], width);
    if (work.any_repeats)
        take_sums(cells, &work, n_paths, width);
    values_release(&work.calls);
    values_release(&work.sums);
    free(work.marked);
    free(work.next);
    free(work.tree);
    free(work.sum);
    free(work.repeats);
}

void peer_cells_release(struct peer_cells *cells)
{
    free(cells->cell);
    free(cells->first);
    free(cells->is_summed);
    *cells = (struct peer_cells){0};
}

const struct peer_cell *peer_cells_find(const struct peer_cells *cells, uint32_t place,
                                        uint32_t path)
{
    uint32_t low =
        FIRST_NOT(i, cells->first[path], cells->first[path + 1], cells->cell[i].place < place);

    return low < cells->first[path + 1] && cells->cell[low].place == place ? &cells->cell[low]
                                                                           : NULL;
}

#define UNEVEN 0.1 /* of what a factor says */
#define WIDER 2.0  /* than the calls of the others */

static double width_of(const struct peer_cell *cell)
{
    return cell->error * sqrt(cell->n_values);
}

/* See peer_cells_others, for one path of a place. */
static double others_of(const struct peer_cells *cells, uint32_t place,
                        const struct peer_path *x, double *scratch)
{
    const struct peer_cell *own = peer_cells_find(cells, place, x->path);
    const struct peer_cell *cell = cells->cell + cells->first[x->path];
    uint32_t n_cells = cells->first[x->path + 1] - cells->first[x->path], n = 0;
    double others, more_ns, width;

    if (own == NULL || own->typical_ns < own->n_calls * MIN_NS)
        return 0;
    for (uint32_t i = 0; i < n_cells; i++)
        if (cell[i].place != place && cell[i].typical_ns > 0)
            scratch[n++] =
                cell[i].capped_ns / cell[i].typical_ns; /* a stop of theirs is not typical */
    if (n == 0)
        return 0;
    others = robust_quantile(scratch, n, 0.5);
    more_ns = own->time_ns - others * own->typical_ns;
    n = 0;
    for (uint32_t i = 0; i < n_cells; i++)
        if (cell[i].place != place && cell[i].typical_ns > 0)
            scratch[n++] = width_of(&cell[i]);
    width = robust_quantile(scratch, n, 0.5);
    return fabs(more_ns - x->excess_ns) > UNEVEN * x->excess_ns || width_of(own) > WIDER * width
               ? others
               : 0;
}

void peer_cells_others(const struct peer_cells *cells, struct peers *peers)
{
    double *scratch = mem_alloc(peers->n, sizeof *scratch);

    for (uint32_t p = 0; p < peers->n; p++)
        for (uint32_t i = 0; i < peers->place[p].n_paths; i++) {
            struct peer_path *x = &peers->place[p].path[i];

            if (!x->is_more && !x->is_part)
                x->others = others_of(cells, p, x, scratch);
        }
    free(scratch);
}

bool peer_task_comes_often(const struct scoring *w, const struct peers *peers, uint32_t p,
                           uint32_t path, double least)
{
    const struct forest *forest = &w->forest;
    uint32_t n = 0, half = (peers->place[p].n_executions + 1) / 2;
    uint32_t enough = half < PEERS_MIN_CALLS ? half : PEERS_MIN_CALLS;

    for (uint32_t i = peers->first_tree[p]; i < peers->first_tree[p + 1]; i++) {
        uint32_t t = peers->tree[i];
        double task = 0;

        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
            if (residual_path(&w->place, forest, t, v) == path)
                task += peer_typical_ns(&w->model, &w->place, forest, t, v);
        if (task > least && ++n >= enough)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------- history */

/*
 * Sums of what was and of what is typical, by place and time. Typical is a median over all places:
 * the sum of skewed times is above that of their medians, and a place may have the larger calls
 * of a path. So the picture is that of the verdicts: typical for a place is what its own work
 * takes without what it is slow by; of one that is not slow, what it takes in the middle one of
 * the stretches, as a few that are unlike the others move the mean of all.
 */

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

/* Makes times of a place factors. ratio: (width) to work in. */
static void scale_place(const struct peer_place *place, uint32_t width, double offset_ns,
                        const double *typical_ns, double *ratio, double *factor)
{
    double slow_ns = place->slow_ns + place->maybe_ns, time = 0, typical = 0, own;
    uint32_t n = 0;

    for (uint32_t i = 0; i < width; i++)
        if (typical_ns[i] > 0) {
            time += factor[i];
            typical += typical_ns[i];
            ratio[n++] = factor[i] / typical_ns[i];
        }
    if (slow_ns > 0)
        own = fmax(time - slow_ns, MIN_OWN * time) / typical;
    else
        own = n > 0 ? robust_quantile(ratio, n, 0.5) : 0;
    for (uint32_t i = 0; i < width; i++)
        factor[i] = typical_ns[i] > 0 ? factor[i] / fmax(typical_ns[i] * own, offset_ns) : 0;
}

void peers_history(const struct scoring *scoring, const struct peers *peers, uint32_t width,
                   struct peer_history *out)
{
    const struct forest *forest = &scoring->forest;
    size_t n = (size_t)peers->n * width;
    double *typical_ns = mem_alloc(n, sizeof *typical_ns);
    double *ratio = mem_alloc(width, sizeof *ratio);

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
            typical_ns[at] += peer_typical_ns(&scoring->model, &scoring->place, forest, t, v);
        }
    }
    for (size_t p = 0; p < peers->n; p++)
        scale_place(&peers->place[p], width, scoring->model.offset_ns, typical_ns + p * width,
                    ratio, out->factor + p * width);
    free(ratio);
    free(typical_ns);
}
