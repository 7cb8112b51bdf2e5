/*
 * Signs (struct signs) are counted of a row of own times for each of several. Of places these
 * are of executions; what a place is slow by is then looked for path by path.
 *
 * The teams of one parallel region of a process are a group: a row of own times for each of its
 * threads. Spans of members are gone through twice: for these times, and, of threads that are
 * slow, for what they did in there.
 */
#include "ranks/peer_few.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "explain/waiting.h"
#include "features/robust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_FACTOR 1.05     /* own work over the others', to be called slow */
#define MIN_EXECUTIONS 8u   /* of each place */
#define MAX_APART 1.1       /* executions of a place over another's: more are no pairs */
#define MORE_SHARE 0.5      /* of an excess that is explained by more calls: it is more to do */
#define SKEWED 0.75         /* of what the middle of calls says, that they take more in all */
#define ALL_OF_IT 0.9       /* of the time on a path: more of it does not say how much more */
#define MIN_INDEPENDENT 8.0 /* pairs, however much alike they are */
#define FALSE_ALARMS 0.005  /* threads called slow in a trace in which none is */
#define NO_GROUP UINT32_MAX
#define MORE_CALLS_SHARE 0.5 /* of what it takes longer: so much more often it calls that */

/* In how many of n the own time of one of several is above the middle of the others'. */
struct signs {
    uint32_t n, n_above, n_same; /* n_same: those that are as the one before is */
    double factor;               /* middle of own time over the others' */
};

struct few {
    const struct scoring *w;
    const struct peer_cells *cells;
    struct peers *out;
    uint32_t n_common; /* executions of each place that have one of each other */
    double *own_ns;    /* [places][n_common] */
    double *middle;    /* [places][n_common] of the others */
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

/* ---------------------------------------------------------------------------------- a place */

/* Without one of them; n >= 2, ascending. */
static double middle_without(const double *sorted, uint32_t n, double one)
{
    uint32_t low = (n - 2) / 2, high = (n - 1) / 2;
    double below = sorted[low] < one ? sorted[low] : sorted[low + 1];
    double above = sorted[high] < one ? sorted[high] : sorted[high + 1];

    return below + (above - below) / 2;
}

/*
 * What the others had in the middle when a place took own_ns: (n_places x n), each place one
 * after another; NAN: it was not there, or was alone. O(n n_places log n_places)
 */
static double *middles_of_others(const double *own_ns, uint32_t n_places, uint32_t n)
{
    double *middle = mem_alloc((size_t)n_places * n, sizeof *middle),
           *sorted = mem_alloc(n_places, sizeof *sorted);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_there = 0;

        for (uint32_t p = 0; p < n_places; p++)
            if (!isnan(own_ns[(size_t)p * n + i]))
                sorted[n_there++] = own_ns[(size_t)p * n + i];
        qsort(sorted, n_there, sizeof *sorted, order_f64);
        for (uint32_t p = 0; p < n_places; p++) {
            size_t at = (size_t)p * n + i;

            middle[at] = isnan(own_ns[at]) || n_there < 2
                             ? NAN
                             : middle_without(sorted, n_there, own_ns[at]);
        }
    }
    free(sorted);
    return middle;
}

/* Of one place: own_ns (n), and middle (n) of what the others had then. */
static struct signs signs_of(const double *own_ns, const double *middle, uint32_t n)
{
    struct signs s = {.factor = 1};
    double *factor = mem_alloc(n, sizeof *factor);
    bool was_above = false;

    for (uint32_t i = 0; i < n; i++) {
        bool is_above = own_ns[i] > middle[i];

        if (isnan(middle[i]))
            continue;
        factor[s.n] = own_ns[i] / fmax(middle[i], 1);
        s.n_above += is_above;
        s.n_same += s.n > 0 && is_above == was_above;
        was_above = is_above;
        s.n++;
    }
    if (s.n > 0)
        s.factor = robust_quantile(factor, s.n, 0.5);
    free(factor);
    return s;
}

/*
 * That so many executions of a place are longer though it is like the others. Executions that
 * follow each other may be alike for a reason that passes: n with a correlation r between
 * neighbours count for n (1 - r) / (1 + r). Of signs of which a share q is above, neighbours
 * would be alike in q^2 + (1 - q)^2 of cases by chance.
 */
static double chance_of(const struct signs *s)
{
    double share = (double)s->n_above / s->n, alike = (double)s->n_same / (s->n - 1);
    double by_chance = share * share + (1 - share) * (1 - share), n = s->n, r = 0;

    if (by_chance < 1)
        r = fmin(fmax((alike - by_chance) / (1 - by_chance), 0), 0.99);
    n = fmax(n * (1 - r) / (1 + r), fmin(n, MIN_INDEPENDENT));
    return 0.5 * erfc((share - 0.5) * sqrt(n) * M_SQRT2);
}

/*
 * What the place spends on a path over the others, by what its calls there typically take, so
 * that a single one that was stopped does not count: they are slower than the others', or there
 * are more of them. Those that are more may be shorter than is typical, as the rest of a block:
 * then they are what the place's calls, each capped, take more than the others' in all.
 */
static void judge_path(const struct few *f, uint32_t place, uint32_t path)
{
    struct peer_place *p = &f->out->place[place];
    const struct peer_cell *own = peer_cells_find(f->cells, place, path);
    struct peer_path x = {.path = path,
                          .is_sure = true,
                          .of_executions = f->cells->is_summed[path],
                          .stage = NO_STAGE};
    double task_ns[PEERS_MIN_PLACES] = {0}, capped_ns[PEERS_MIN_PLACES] = {0},
           took_ns[PEERS_MIN_PLACES] = {0}, ratio[PEERS_MIN_PLACES] = {0},
           scratch[PEERS_MIN_PLACES];
    double slow_ns = 0, more_ns, task_others, capped_others;
    double in_all_ns;     /* more than the others', as they are or capped */
    double of_others = 0; /* the square of their errors' sum, if these are independent */

    if (own == NULL)
        return;
    for (uint32_t i = 0; i < f->out->n; i++) {
        const struct peer_cell *cell = peer_cells_find(f->cells, i, path);

        task_ns[i] = cell ? cell->typical_ns / f->out->place[i].n_executions : 0;
        capped_ns[i] = cell ? cell->capped_ns / f->out->place[i].n_executions : 0;
        took_ns[i] = cell ? cell->time_ns / f->out->place[i].n_executions : 0;
        ratio[i] = cell ? cell->ratio : own->ratio;
        of_others += cell && i != place ? cell->error * cell->error : 0;
    }
    task_others = peer_middle(task_ns, f->out->n, place, scratch);
    capped_others = peer_middle(capped_ns, f->out->n, place, scratch);
    in_all_ns = fmax(0, fmax(took_ns[place] - peer_middle(took_ns, f->out->n, place, scratch),
                             capped_ns[place] - capped_others)) *
                p->n_executions;
    x.above = own->ratio - peer_middle(ratio, f->out->n, place, scratch);
    if (x.above > 0)
        slow_ns = peer_cell_excess(own, x.above, f->w->model.offset_ns);
    /* calls of skewed times may be longer in the middle, and not in all */
    if (in_all_ns < SKEWED * slow_ns ||
        (in_all_ns < slow_ns && slow_ns >= ALL_OF_IT * own->time_ns))
        slow_ns = in_all_ns;
    more_ns = fmin(task_ns[place] - task_others, capped_ns[place] - capped_others);
    more_ns = fmax(more_ns, 0) * p->n_executions;
    x.excess_ns = fmin(slow_ns + more_ns, own->time_ns);
    if (x.excess_ns < PEERS_WORTH_NAMING * (p->own_ns + p->wait_ns))
        return;
    if (task_others <= 0 && capped_others <= 0)
        x.factor = INFINITY;
    else
        x.factor =
            own->time_ns / fmax(own->time_ns - x.excess_ns, (1 - ALL_OF_IT) * own->time_ns);
    x.is_more = more_ns >= MORE_SHARE * x.excess_ns || x.factor >= PEERS_ROLE_FACTOR;
    if (x.is_more)
        x.most_factor = fmin(task_ns[place] / task_others, capped_ns[place] / capped_others);
    else
        x.error = hypot(own->error, sqrt(of_others) / (f->out->n - 1));
    if (x.is_more)
        p->more_ns += x.excess_ns;
    else
        p->slow_ns += x.excess_ns;
    peer_place_add(p, &x);
}

static void judge_place(const struct few *f, uint32_t place, double chance)
{
    struct peer_place *p = &f->out->place[place];
    size_t row = (size_t)place * f->n_common;
    struct signs signs = signs_of(f->own_ns + row, f->middle + row, f->n_common);
    double excess_ns;

    if (2 * signs.n_above <= signs.n || signs.factor < MIN_FACTOR ||
        f->out->n * chance_of(&signs) > chance)
        return;
    for (uint32_t path = 0; path < f->w->model.paths.n; path++)
        if (!f->out->is_waiting[path])
            judge_path(f, place, path);
    excess_ns = p->slow_ns + p->more_ns;
    if (excess_ns < PEERS_MATERIAL * (p->own_ns + p->wait_ns) ||
        p->own_ns < MIN_FACTOR * (p->own_ns - excess_ns)) {
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

    if (f.n_common < MIN_EXECUTIONS || peers->n < PEER_FEW_MIN_PLACES) {
        for (uint32_t p = 0; p < peers->n; p++)
            peers->place[p].verdict = PEER_INCONCLUSIVE;
        return;
    }
    f.own_ns = mem_alloc((size_t)peers->n * f.n_common, sizeof *f.own_ns);
    for (uint32_t p = 0; p < peers->n; p++)
        for (uint32_t i = 0; i < f.n_common; i++)
            f.own_ns[(size_t)p * f.n_common + i] =
                peer_own_ns(scoring, peers, peers->tree[peers->first_tree[p] + i]);
    f.middle = middles_of_others(f.own_ns, peers->n, f.n_common);
    for (uint32_t p = 0; p < peers->n; p++)
        judge_place(&f, p, chance);
    free(f.own_ns);
    free(f.middle);
}

struct team_group {
    uint32_t location, n_threads; /* the first one of the process; locations from there on */
    uint32_t region, n_teams;
    double *own_ns; /* [n_threads][n_teams] NAN: it was no member */
};

struct teams {
    const struct scoring *s;
    const struct trace_view *view;
    struct team_group *group;
    uint32_t n_groups;
    size_t group_cap;
    uint32_t *of, *index; /* [spans] of a fork: its group, and which of its teams it is */
    bool *is_waiting;     /* [regions] nobody's own time is spent in it */
};

/* -------------------------------------------------------------------------------- groups */

/* What the master calls first as a member is the parallel region. */
static uint32_t region_of(const struct call_view *calls, size_t fork, uint32_t team)
{
    const struct team_span *span = &calls->span[fork], *next = span + 1;
    uint32_t row = span->call;

    if (fork + 1 < calls->n_spans && next->kind == SPAN_MEMBER && next->team == team &&
        next->n_rows > 0)
        row = next->first_row;
    return row < calls->n ? calls->region[row] : NAMES_NONE;
}

static uint32_t group_of(struct teams *t, uint32_t first, uint32_t region)
{
    const struct definitions *defs = t->s->defs;
    uint32_t end = first;

    for (uint32_t g = t->n_groups; g-- > 0 && t->group[g].location == first;)
        if (t->group[g].region == region)
            return g;
    while (end < defs->n_locations && defs->location[end].rank == defs->location[first].rank)
        end++;
    mem_grow(&t->group, &t->group_cap, (size_t)t->n_groups + 1);
    t->group[t->n_groups] = (struct team_group){first, end - first, region, 0, NULL};
    return t->n_groups++;
}

/* Forks in executions begin .. end - 1, all of one location; not those in other forks. */
static void group_forks(struct teams *t, uint32_t begin, uint32_t end)
{
    const struct forest *forest = &t->s->forest;
    const struct definitions *defs = t->s->defs;
    uint32_t l = forest->location[begin], tree = begin;
    const struct call_view *calls = trace_view_calls(t->view, l);
    uint32_t first = definitions_find_location(defs, defs->location[l].rank);
    uint64_t until_ns = 0;

    for (size_t i = 0; i < calls->n_spans; i++) {
        const struct team_span *span = &calls->span[i];
        size_t row = t->view->first_span[l] + i;
        uint32_t region;

        if (span->kind != SPAN_FORK || span->call >= calls->n || span->begin_ns < until_ns)
            continue;
        while (tree < end && forest->call[tree] < calls->n &&
               forest->call[tree] + calls->subtree_len[forest->call[tree]] <= span->call)
            tree++;
        if (tree == end || span->call < forest->call[tree])
            continue;
        until_ns = span->end_ns;
        region = region_of(calls, i, (uint32_t)row);
        /* who forked only waits: no thread of the team does what another does */
        if (region == NAMES_NONE || t->is_waiting[region])
            continue;
        t->of[row] = group_of(t, first, region);
        t->index[row] = t->group[t->of[row]].n_teams++;
    }
}

static void make_groups(struct teams *t)
{
    const struct forest *forest = &t->s->forest;

    for (uint32_t i = 0, end; i < forest->n_trees; i = end) {
        end = forest_location_end(forest, i);
        group_forks(t, i, end);
    }
    for (uint32_t g = 0; g < t->n_groups; g++) {
        size_t n = (size_t)t->group[g].n_threads * t->group[g].n_teams;

        t->group[g].own_ns = mem_alloc(n, sizeof(double));
        for (size_t i = 0; i < n; i++)
            t->group[g].own_ns[i] = NAN;
    }
}

/* ------------------------------------------------------------------------------- members */

/* Calls fn for what a member calls in a span, but not for what waits, nor for what is in that.
 */
typedef void each_call(void *ctx, uint32_t location, uint32_t row);

static double each_call_of(const struct teams *t, uint32_t l, const struct team_span *span,
                           each_call *fn, void *ctx)
{
    const struct call_view *calls = trace_view_calls(t->view, l);
    uint32_t end = span->first_row + span->n_rows;
    double waited_ns = 0;

    for (uint32_t row = span->first_row; row < end && row < calls->n;) {
        if (t->is_waiting[calls->region[row]]) {
            waited_ns += (double)calls->inclusive_ns[row];
            row += calls->subtree_len[row];
            continue;
        }
        if (fn)
            fn(ctx, l, row);
        row++;
    }
    return waited_ns;
}

/* The group of a member's span, or NO_GROUP. */
static uint32_t group_of_span(const struct teams *t, const struct team_span *span)
{
    return span->kind == SPAN_MEMBER && span->team < t->view->first_span[t->view->n_locations]
               ? t->of[span->team]
               : NO_GROUP;
}

static void add_times(struct teams *t, uint32_t l)
{
    const struct call_view *calls = trace_view_calls(t->view, l);

    for (size_t i = 0; i < calls->n_spans; i++) {
        const struct team_span *span = &calls->span[i];
        uint32_t g = group_of_span(t, span), thread;
        double *own, took;

        if (g == NO_GROUP || l - t->group[g].location >= t->group[g].n_threads)
            continue;
        thread = l - t->group[g].location;
        own = &t->group[g].own_ns[(size_t)thread * t->group[g].n_teams + t->index[span->team]];
        took = (double)(span->end_ns - span->begin_ns) - each_call_of(t, l, span, NULL, NULL);
        *own = fmax(took, 0) + (isnan(*own) ? 0 : *own);
    }
}

/* ------------------------------------------------------------------------------- judging */

/* What the threads of a group did, by region. */
struct did {
    const struct teams *t;
    uint32_t first, n_regions;
    double *ns, *n_calls; /* [threads][n_regions] */
};

static void add_call(void *ctx, uint32_t l, uint32_t row)
{
    struct did *d = ctx;
    const struct call_view *calls = trace_view_calls(d->t->view, l);
    size_t at = (size_t)(l - d->first) * d->n_regions + calls->region[row];

    d->ns[at] += (double)calls_own_ns(calls, row);
    d->n_calls[at]++;
}

static double middle_of_others(const double *value, const struct did *d, uint32_t n_threads,
                               uint32_t thread, uint32_t region, double *scratch)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_threads; i++)
        if (i != thread)
            scratch[n++] = value[(size_t)i * d->n_regions + region];
    return robust_quantile(scratch, n, 0.5);
}

/* What it did: in which function it takes longer than the others most, and whether it calls
 * that more. */
static void name_inside(const struct teams *t, const struct team_group *g,
                        struct peer_thread *x)
{
    uint32_t thread = x->location - g->location, n_regions = t->s->defs->names.n;
    size_t n = (size_t)g->n_threads * n_regions;
    struct did d = {t, g->location, n_regions, mem_alloc(n, sizeof(double)),
                    mem_alloc(n, sizeof(double))};
    double *scratch = mem_alloc(g->n_threads, sizeof *scratch), most = 0;

    for (uint32_t l = g->location; l < g->location + g->n_threads; l++) {
        const struct call_view *calls = trace_view_calls(t->view, l);

        for (size_t i = 0; i < calls->n_spans; i++) {
            uint32_t of = group_of_span(t, &calls->span[i]);

            if (of == NO_GROUP || &t->group[of] != g)
                continue;
            each_call_of(t, l, &calls->span[i], add_call, &d);
            if (l != x->location)
                continue;
            *mem_push(&x->span, &x->n_spans, &x->span_cap) = (uint32_t)i;
        }
    }
    for (uint32_t r = 0; r < n_regions; r++) {
        size_t at = (size_t)thread * n_regions + r;
        double typical = middle_of_others(d.ns, &d, g->n_threads, thread, r, scratch), calls;

        if (d.ns[at] - typical <= most)
            continue;
        most = d.ns[at] - typical;
        x->inside = r;
        calls = middle_of_others(d.n_calls, &d, g->n_threads, thread, r, scratch);
        x->is_more =
            d.n_calls[at] - calls >= MORE_CALLS_SHARE * (x->factor - 1) * fmax(calls, 1);
    }
    free(d.ns);
    free(d.n_calls);
    free(scratch);
}

static void judge(const struct teams *t, const struct team_group *g, const double *middle,
                  uint32_t thread, double n_tests, struct peer_teams *out)
{
    size_t row = (size_t)thread * g->n_teams;
    const double *own = g->own_ns + row;
    struct signs signs = signs_of(own, middle + row, g->n_teams);
    struct peer_thread x = {.location = g->location + thread,
                            .region = g->region,
                            .inside = g->region,
                            .n_teams = signs.n,
                            .factor = signs.factor};
    double own_ns = 0, all_ns = 0;

    if (signs.n < MIN_EXECUTIONS || 2 * signs.n_above <= signs.n || signs.factor < MIN_FACTOR ||
        n_tests * chance_of(&signs) > FALSE_ALARMS)
        return;
    for (uint32_t i = 0; i < g->n_teams; i++)
        own_ns += isnan(own[i]) ? 0 : own[i];
    for (uint32_t i = 0; i < t->s->forest.n_trees; i++)
        if (t->s->forest.location[i] - g->location < g->n_threads)
            all_ns += (double)t->view->calls[t->s->forest.location[i]]
                          .inclusive_ns[t->s->forest.call[i]];
    x.excess_ns = own_ns * (1 - 1 / x.factor);
    if (x.excess_ns < PEERS_MATERIAL * all_ns)
        return;
    x.share = (double)signs.n_above / signs.n;
    for (uint32_t i = 0; i < g->n_threads; i++)
        for (uint32_t k = 0; k < g->n_teams; k++)
            if (!isnan(g->own_ns[(size_t)i * g->n_teams + k])) {
                x.n_threads++;
                break;
            }
    name_inside(t, g, &x);
    out->thread = mem_resize(out->thread, out->n + 1, sizeof *out->thread);
    out->thread[out->n++] = x;
}

static void judge_group(const struct teams *t, const struct team_group *g, double n_tests,
                        struct peer_teams *out)
{
    double *middle = middles_of_others(g->own_ns, g->n_threads, g->n_teams);

    for (uint32_t i = 0; i < g->n_threads; i++)
        judge(t, g, middle, i, n_tests, out);
    free(middle);
}

static int by_excess(const void *a, const void *b)
{
    const struct peer_thread *p = a, *q = b;

    return ORDER(q->excess_ns, p->excess_ns) ?: ORDER(p->location, q->location);
}

/* -------------------------------------------------------------------------------- public */

/* As far as calls of members are gone through. */
static void walk_init(struct teams *t, const struct trace_view *view)
{
    const struct definitions *defs = view->defs;

    *t = (struct teams){.view = view};
    t->is_waiting = mem_alloc(defs->names.n, sizeof *t->is_waiting);
    for (uint32_t r = 0; r < defs->names.n; r++)
        t->is_waiting[r] = defs->region[r].is_barrier || waiting_is_likely(&defs->region[r]);
}

static void teams_init(struct teams *t, const struct scoring *s, const struct trace_view *view)
{
    size_t n_spans = view->first_span[view->n_locations];

    walk_init(t, view);
    t->s = s;
    t->of = mem_alloc(n_spans, sizeof *t->of);
    t->index = mem_alloc(n_spans, sizeof *t->index);
    for (size_t i = 0; i < n_spans; i++)
        t->of[i] = NO_GROUP;
    make_groups(t);
}

static void teams_release(struct teams *t)
{
    for (uint32_t g = 0; g < t->n_groups; g++)
        free(t->group[g].own_ns);
    free(t->group);
    free(t->of);
    free(t->index);
    free(t->is_waiting);
}

void peer_teams_find(const struct scoring *s, const struct trace_view *view,
                     struct peer_teams *out)
{
    double n_tests = 0;
    struct teams t;

    *out = (struct peer_teams){0};
    if (view->first_span[view->n_locations] == 0)
        return;
    teams_init(&t, s, view);
    for (uint32_t l = 0; l < view->n_locations && t.n_groups > 0; l++) {
        add_times(&t, l);
        trace_view_passed(view);
    }
    for (uint32_t g = 0; g < t.n_groups; g++) {
        n_tests += t.group[g].n_threads;
        out->n_teams += t.group[g].n_teams;
        out->n_threads =
            t.group[g].n_threads > out->n_threads ? t.group[g].n_threads : out->n_threads;
    }
    for (uint32_t g = 0; g < t.n_groups; g++)
        judge_group(&t, &t.group[g], n_tests, out);
    if (out->n > 1)
        qsort(out->thread, out->n, sizeof *out->thread, by_excess);
    teams_release(&t);
}

void peer_teams_release(struct peer_teams *teams)
{
    for (uint32_t i = 0; i < teams->n; i++)
        free(teams->thread[i].span);
    free(teams->thread);
    *teams = (struct peer_teams){0};
}

struct call_cutting {
    struct what_if *w;
    double share; /* of each call */
    int64_t cut_ns;
};

static void cut_call(void *ctx, uint32_t l, uint32_t row)
{
    struct call_cutting *c = ctx;
    double own_ns = (double)calls_own_ns(&c->w->view.calls[l], row);

    c->cut_ns += replay_cut(&c->w->replay, l, row, llrint(own_ns * c->share));
}

/* Takes it out of all its teams. */
static int64_t cut_thread(const struct teams *t, const struct peer_thread *x, struct what_if *w)
{
    struct call_cutting c = {w, 1 - 1 / x->factor, 0};
    const struct call_view *calls = trace_view_calls(t->view, x->location);

    for (size_t i = 0; i < x->n_spans; i++)
        if (x->span[i] < calls->n_spans)
            each_call_of(t, x->location, &calls->span[x->span[i]], cut_call, &c);
    return c.cut_ns;
}

int64_t peer_teams_cut(struct what_if *w, const struct peer_teams *teams, uint32_t rank)
{
    int64_t cut_ns = 0;
    struct teams t;

    if (teams->n == 0)
        return 0;
    walk_init(&t, &w->view);
    for (uint32_t i = 0; i < teams->n; i++)
        if (w->view.defs->location[teams->thread[i].location].rank == rank)
            cut_ns += cut_thread(&t, &teams->thread[i], w);
    teams_release(&t);
    return cut_ns;
}

void peer_teams_costs(struct what_if *w, struct peer_teams *teams)
{
    struct replay_result result;
    struct teams t;

    if (teams->n == 0 || !syncs_clocks_agree(&w->syncs))
        return;
    walk_init(&t, &w->view);
    for (uint32_t i = 0; i < teams->n && i < PEERS_MAX_COSTS; i++) {
        struct peer_thread *x = &teams->thread[i];

        x->has_cost = syncs_is_known(&w->syncs, x->location);
        cut_thread(&t, x, w);
        replay_run(&w->replay, &result);
        replay_clear(&w->replay);
        x->cost_ns = result.saved_ns > 0 ? result.saved_ns : 0;
        x->cost_least_ns = syncs_are_exact(&w->syncs) ? x->cost_ns : 0;
    }
    teams_release(&t);
}

char *peer_teams_place(const struct definitions *defs, const struct peer_thread *x,
                       char out[PEER_NAME_SIZE])
{
    const struct location *l = &defs->location[x->location];

    snprintf(out, PEER_NAME_SIZE, "rank %u thread %u", l->rank, l->thread);
    return out;
}

char *peer_teams_text(const struct definitions *defs, const struct peer_thread *x)
{
    char excess[TEXT_SIZE], others[64] = "other thread", *text;
    const char *inside = x->inside == x->region ? "" : defs->region[x->inside].short_name;

    if (x->n_threads > 2)
        snprintf(others, sizeof others, "median of the other %u threads", x->n_threads - 1);
    if (asprintf(&text, "%s%s%s %+.0f %%%s over the %s of its teams (%s, in %.0f %% of %u)",
                 defs->region[x->region].short_name, inside[0] ? " > " : "", inside,
                 100 * (x->factor - 1), x->is_more ? " more to do" : "", others,
                 text_duration(x->excess_ns, excess), 100 * x->share, x->n_teams) < 0)
        mem_give_up(1, BUFSIZ);
    return text;
}
