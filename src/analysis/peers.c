/*
 * A cell is what one place does on one call path: the middle of its calls' log ratios, and how
 * many they are. Cells are filled in one pass over the vertices; the rest is about cells.
 */
#include "analysis/peers.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/student.h"
#include "explain/waiting.h"
#include "features/robust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FALSE_ALARMS 0.005  /* places called slow in a trace in which none is */
#define MAYBE 20.0          /* times as often may one be called unsure */
#define LEAST_FACTOR 1.015  /* by which calls take longer, or are more, to count */
#define FEWEST_CALLS 8u     /* in a cell, for its middle to mean anything */
#define LEAST_WIDTH 1e-3    /* of ratios: clocks and caches are not better than that */
#define MAD_SIGMA 1.4826    /* standard deviations in a median absolute deviation */
#define MEDIAN_ERROR 1.2533 /* standard error of a median, in that of a mean */
#define SMALL_SAMPLE 4.0    /* among n places, sampling errors count for so many n-ths more */
#define LEAST_FREEDOM 10.0  /* where the places are no further apart than their calls vary */
#define MAD_FREEDOM 0.37    /* degrees of freedom of a MAD, per value: its efficiency */
#define TASK_WIDTHS 6.0     /* work per execution beyond that of the peers */
#define DATA_SHARE 0.5      /* of a slowdown that more data explains */
#define WORTH_NAMING 0.001  /* of the time of a place */
#define WAIT_MATERIAL 0.02  /* of its time: a place waits that much more than others */
#define MOST_PATHS 16u      /* kept of a place */

struct cell {
    double ratio, error; /* middle of ln(time / typical) and its standard error */
    double time_ns;      /* of all calls */
    double usual_ns;     /* that calls with the same calls below usually take, on any place */
    uint32_t n_calls;
};

struct finder {
    const struct scoring *w;
    const struct trace_view *view;
    struct peers *out;
    uint32_t *place_of; /* [n_trees] */
    uint32_t *place_at; /* [locations] or PEERS_NONE */
    struct cell *cell;  /* [places x paths] */
    uint32_t n_paths, n_tests;
};

const char *peer_verdict_name(enum peer_verdict verdict)
{
    static const char *const names[] = {"usual", "slow", "waits", "imbalanced", "unsure"};

    return names[verdict];
}

int peers_by(const char *name, const struct definitions *defs, enum peer_by *by)
{
    static const char *const names[] = {"rank", "thread", "program"};
    bool has_few = defs->n_ranks < PEERS_FEWEST && defs->n_locations >= PEERS_FEWEST;

    *by = has_few ? PEERS_BY_THREAD : PEERS_BY_RANK;
    if (name == NULL)
        return 0;
    for (*by = PEERS_BY_RANK; *by <= PEERS_BY_PROGRAM; ++*by)
        if (strcmp(name, names[*by]) == 0)
            return 0;
    return err_set(ERR_USAGE, "by is rank, thread or program, not '%s'", name);
}

static double time_of(const struct peer_place *p)
{
    return fmax(p->own_ns + p->wait_ns, 1);
}

char *peer_place_name(const struct peers *peers, uint32_t place, char out[PEER_NAME_SIZE])
{
    const struct peer_place *p = &peers->place[place];
    bool has_programs = peers->place[peers->n - 1].program > 0;
    int n = 0;

    if (has_programs || peers->by == PEERS_BY_PROGRAM)
        n = snprintf(out, PEER_NAME_SIZE, "program %u", p->program);
    if (peers->by != PEERS_BY_PROGRAM)
        n += snprintf(out + n, PEER_NAME_SIZE - (size_t)n, "%srank %u", n > 0 ? " " : "",
                      p->rank);
    if (peers->by == PEERS_BY_THREAD)
        snprintf(out + n, PEER_NAME_SIZE - (size_t)n, " thread %u", p->thread);
    return out;
}

double peer_slowdown(const struct peer_place *p)
{
    return p->own_ns > p->slow_ns ? p->own_ns / (p->own_ns - p->slow_ns) : 1;
}

void peers_release(struct peers *peers)
{
    for (uint32_t i = 0; i < peers->n; i++)
        free(peers->place[i].path);
    free(peers->place);
    free(peers->of);
    free(peers->is_waiting);
    *peers = (struct peers){0};
}

/* -------------------------------------------------------------------------------- places */

static int by_name(const void *a, const void *b)
{
    const struct peer_place *p = a, *q = b;

    return p->program != q->program ? order_u32(&p->program, &q->program)
           : p->rank != q->rank     ? order_u32(&p->rank, &q->rank)
                                    : order_u32(&p->thread, &q->thread);
}

static struct peer_place name_of(const struct finder *f, uint32_t location, enum peer_by by)
{
    const struct location *l = &f->w->defs->location[location];

    return (struct peer_place){.program = l->program,
                               .rank = by == PEERS_BY_PROGRAM ? 0 : l->rank,
                               .thread = by == PEERS_BY_THREAD ? l->thread : 0,
                               .waits_for = PEERS_NONE};
}

static void find_places(struct finder *f, enum peer_by by)
{
    const struct forest *forest = &f->w->forest;
    struct peers *out = f->out;
    uint32_t n = 0;

    out->place = mem_alloc(f->w->defs->n_locations, sizeof *out->place);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        if (t == 0 || forest->location[t] != forest->location[t - 1])
            out->place[n++] = name_of(f, forest->location[t], by);
    qsort(out->place, n, sizeof *out->place, by_name);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || by_name(&out->place[i], &out->place[out->n - 1]) != 0)
            out->place[out->n++] = out->place[i];
    f->out->of = mem_alloc(forest->n_trees, sizeof *f->out->of);
    f->place_at = mem_alloc(f->w->defs->n_locations, sizeof *f->place_at);
    memset(f->place_at, 0xff, f->w->defs->n_locations * sizeof *f->place_at);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        bool is_same = t > 0 && forest->location[t] == forest->location[t - 1];
        struct peer_place name = name_of(f, forest->location[t], by);
        const struct peer_place *found =
            is_same ? &out->place[f->out->of[t - 1]]
                    : bsearch(&name, out->place, out->n, sizeof name, by_name);

        f->out->of[t] = f->place_at[forest->location[t]] = (uint32_t)(found - out->place);
        out->place[f->out->of[t]].n_executions++;
    }
}

/* ------------------------------------------------------------------------------- waiting */

/* Marks the functions whose calls mostly are messages or collectives. */
static void mark_communication(const struct finder *f, bool *is_communication)
{
    const struct trace_view *view = f->view;
    uint32_t n_regions = f->w->defs->names.n;
    uint64_t *n_calls = mem_alloc(n_regions, sizeof *n_calls);
    uint64_t *n_records = mem_alloc(n_regions, sizeof *n_records);

    for (uint32_t l = 0; l < view->n_locations; l++) {
        const struct call_view *calls = trace_view_calls(view, l);

        for (uint32_t row = 0; row < calls->n; row++)
            n_calls[calls->region[row]]++;
        for (size_t i = 0; i < calls->n_messages; i++)
            if (calls->message[i].call < calls->n)
                n_records[calls->region[calls->message[i].call]]++;
        for (size_t i = 0; i < calls->n_collectives; i++)
            if (calls->collective[i].call < calls->n)
                n_records[calls->region[calls->collective[i].call]]++;
    }
    for (uint32_t r = 0; r < n_regions; r++)
        is_communication[r] = n_records[r] > 0 && 2 * n_records[r] >= n_calls[r];
    free(n_calls);
    free(n_records);
}

/*
 * Calls of MPI that may wait. In a trace without MPI, but with messages, as of the streams of a
 * GPU: calls that are messages, and the time of an execution in which nothing is called.
 */
static void find_waiting(struct finder *f)
{
    const struct definitions *defs = f->w->defs;
    const struct context *paths = &f->w->model.paths;
    bool *is_communication = mem_alloc(defs->names.n, sizeof *is_communication);
    bool has_mpi = false, has_any = false;

    f->out->is_waiting = mem_alloc(f->n_paths, sizeof *f->out->is_waiting);
    for (uint32_t r = 0; r < defs->names.n; r++)
        has_mpi |= defs->region[r].kind == REGION_MPI;
    if (!has_mpi && f->view)
        mark_communication(f, is_communication);
    for (uint32_t r = 0; r < defs->names.n; r++)
        has_any |= is_communication[r];
    f->out->is_of_streams = has_any;
    for (uint32_t p = 0; p < f->n_paths; p++)
        f->out->is_waiting[p] = waiting_is_likely(&defs->region[paths->region[p]]) ||
                                is_communication[paths->region[p]] ||
                                (has_any && paths->parent[p] == PATH_NONE);
    free(is_communication);
}

/* --------------------------------------------------------------------------------- cells */

static struct cell *cell_at(const struct finder *f, uint32_t place, uint32_t path)
{
    return &f->cell[(size_t)place * f->n_paths + path];
}

static double ratio_of(const struct finder *f, uint32_t v)
{
    const struct residual_model *m = &f->w->model;
    const struct residual_context *c = residual_context(m, &f->w->place, v);

    return log(((double)f->w->forest.exclusive_ns[v] + m->offset_ns) / c->typical);
}

/* Vertices of own work, each with its cell. */
struct work {
    uint32_t *vertex, *cell; /* [n] */
    size_t n;
    const struct finder *f;
};

static double work_ratio(size_t i, const void *ctx)
{
    const struct work *work = ctx;

    return ratio_of(work->f, work->vertex[i]);
}

/* Adds up times; what is own work is listed. */
static void go_through(struct finder *f, struct work *work)
{
    const struct forest *forest = &f->w->forest;
    const struct residual_model *m = &f->w->model;

    work->vertex = mem_resize(NULL, forest->n, sizeof *work->vertex);
    work->cell = mem_resize(NULL, forest->n, sizeof *work->cell);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        struct peer_place *place = &f->out->place[f->out->of[t]];

        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            uint32_t path = f->w->place.path[v];
            double time_ns = (double)forest->exclusive_ns[v];
            struct cell *cell;

            if (path != PATH_NONE && f->out->is_waiting[path]) {
                place->wait_ns += time_ns;
                continue;
            }
            place->own_ns += time_ns;
            if (path == PATH_NONE)
                continue;
            cell = cell_at(f, f->out->of[t], path);
            cell->time_ns += time_ns;
            cell->usual_ns += residual_context(m, &f->w->place, v)->typical - m->offset_ns;
            work->cell[work->n] = f->out->of[t] * f->n_paths + path;
            work->vertex[work->n++] = v;
        }
    }
}

static void fill_cells(struct finder *f, const struct work *work)
{
    uint32_t n_cells = f->out->n * f->n_paths;
    struct spread *spread = mem_alloc(n_cells, sizeof *spread);
    uint32_t *count = mem_alloc(n_cells, sizeof *count);

    robust_groups(work->cell, n_cells, work->n, work_ratio, work, LEAST_WIDTH, spread, count);
    for (uint32_t i = 0; i < n_cells; i++) {
        f->cell[i].n_calls = count[i];
        f->cell[i].ratio = spread[i].centre;
        f->cell[i].error = count[i] > 0 ? MEDIAN_ERROR * spread[i].scale / sqrt(count[i]) : 0;
    }
    free(spread);
    free(count);
}

/* ------------------------------------------------------------------------------- a path */

/* What all places do on one path, as a middle and a width. */
struct across {
    double middle, width;
    uint32_t n; /* places */
};

static double width_around(double *x, uint32_t n, double middle)
{
    for (uint32_t i = 0; i < n; i++)
        x[i] = fabs(x[i] - middle);
    return MAD_SIGMA * robust_quantile(x, n, 0.5);
}

static struct across across_places(const struct finder *f, uint32_t path, double *scratch)
{
    struct across a = {.n = 0};

    for (uint32_t p = 0; p < f->out->n; p++)
        if (cell_at(f, p, path)->n_calls >= FEWEST_CALLS)
            scratch[a.n++] = cell_at(f, p, path)->ratio;
    if (a.n < PEERS_FEWEST)
        return a;
    a.middle = robust_quantile(scratch, a.n, 0.5);
    a.width = fmax(width_around(scratch, a.n, a.middle), LEAST_WIDTH);
    return a;
}

static double task_of(const struct finder *f, uint32_t p, uint32_t path)
{
    return cell_at(f, p, path)->usual_ns / f->out->place[p].n_executions;
}

/*
 * What there is to do on the path in an execution, of all places; or, where most never come by,
 * of those that do, if they can be compared: streams and threads have their parts to play.
 */
static struct across tasks_across(const struct finder *f, uint32_t path, double *scratch)
{
    struct across a = {.n = f->out->n};
    uint32_t n_there = 0;

    if (a.n < PEERS_FEWEST)
        return a;
    for (uint32_t p = 0; p < a.n; p++)
        n_there += cell_at(f, p, path)->n_calls > 0;
    if (2 * n_there <= a.n && n_there >= PEERS_FEWEST)
        a.n = 0;
    for (uint32_t p = 0; p < f->out->n; p++)
        if (a.n == f->out->n)
            scratch[p] = task_of(f, p, path);
        else if (cell_at(f, p, path)->n_calls > 0)
            scratch[a.n++] = task_of(f, p, path);
    a.middle = robust_quantile(scratch, a.n, 0.5);
    a.width = width_around(scratch, a.n, a.middle);
    return a;
}

static void add_path(struct peer_place *place, const struct peer_path *found)
{
    place->path = mem_resize(place->path, place->n_paths + 1, sizeof *place->path);
    place->path[place->n_paths++] = *found;
}

/*
 * That a place like the others is so far above them. How far they are apart is known from few
 * of them; but that they cannot be closer than their calls vary is known well. What few places
 * show by chance to be closer than they are is allowed for.
 */
static double chance_of(double above, const struct across *a, double error)
{
    double freedom = fmax(1, MAD_FREEDOM * (a->n - 1));
    double floor = error * (1 + SMALL_SAMPLE / a->n);

    if (a->width > floor)
        return student_tail(above / a->width, freedom);
    return student_tail(above / floor, fmax(freedom, LEAST_FREEDOM));
}

static void judge_time(struct finder *f, uint32_t p, uint32_t path, const struct across *a)
{
    const struct cell *cell = cell_at(f, p, path);
    struct peer_place *place = &f->out->place[p];
    double above = cell->ratio - a->middle, chance;
    struct peer_path found = {.path = path, .factor = exp(above)};

    if (a->n < PEERS_FEWEST || cell->n_calls < FEWEST_CALLS || found.factor < LEAST_FACTOR)
        return;
    chance = f->n_tests * chance_of(above, a, cell->error);
    if (chance > MAYBE * FALSE_ALARMS)
        return;
    found.is_sure = chance <= FALSE_ALARMS;
    found.excess_ns = cell->time_ns * (1 - 1 / found.factor);
    if (found.excess_ns < WORTH_NAMING * time_of(place))
        return;
    if (found.is_sure)
        place->slow_ns += found.excess_ns;
    else
        place->maybe_ns += found.excess_ns;
    add_path(place, &found);
}

static void judge_task(struct finder *f, uint32_t p, uint32_t path, const struct across *a)
{
    struct peer_place *place = &f->out->place[p];
    double task = task_of(f, p, path), more = task - a->middle;
    struct peer_path found = {.path = path, .is_more = true, .is_sure = true};

    if (a->n < PEERS_FEWEST || more <= TASK_WIDTHS * a->width ||
        task < LEAST_FACTOR * a->middle)
        return;
    found.factor = a->middle > 0 ? task / a->middle : INFINITY;
    found.excess_ns = more * place->n_executions;
    if (found.excess_ns < WORTH_NAMING * time_of(place))
        return;
    place->more_ns += found.excess_ns;
    add_path(place, &found);
}

static uint32_t count_tests(const struct finder *f)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->out->n * f->n_paths; i++)
        n += f->cell[i].n_calls >= FEWEST_CALLS;
    return n;
}

static void judge_paths(struct finder *f)
{
    double *scratch = mem_alloc(f->out->n, sizeof *scratch);

    f->n_tests = count_tests(f);
    for (uint32_t path = 0; path < f->n_paths; path++) {
        struct across time, task;

        if (f->out->is_waiting[path])
            continue;
        time = across_places(f, path, scratch);
        task = tasks_across(f, path, scratch);
        for (uint32_t p = 0; p < f->out->n; p++) {
            judge_time(f, p, path, &time);
            judge_task(f, p, path, &task);
        }
    }
    free(scratch);
}

/* --------------------------------------------------------------------- since when, how often
 */

static int by_excess(const void *a, const void *b)
{
    const struct peer_path *p = a, *q = b;

    if (p->is_sure != q->is_sure)
        return q->is_sure - p->is_sure;
    if (p->excess_ns != q->excess_ns)
        return p->excess_ns < q->excess_ns ? 1 : -1;
    return order_u32(&p->path, &q->path);
}

/* From where on calls are rather the place's own than its peers': where their sum is lowest. */
struct turn {
    double sum, least;
    uint32_t n, n_own;
};

static void date_path(const struct finder *f, uint32_t p, struct peer_path *x)
{
    const struct forest *forest = &f->w->forest;
    double border = cell_at(f, p, x->path)->ratio - log(x->factor) / 2;
    struct turn turn = {0};
    bool is_begun = false;

    for (uint32_t t = 0; t < forest->n_trees; t++) {
        if (f->out->of[t] != p)
            continue;
        if (!is_begun)
            x->since_ns = forest->enter_ns[t];
        is_begun = true;
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
            double above;

            if (f->w->place.path[v] != x->path)
                continue;
            above = ratio_of(f, v) - border;
            turn.sum += fmin(fmax(above, -1), 1);
            turn.n++;
            turn.n_own += above > 0;
            if (turn.sum < turn.least) {
                turn.least = turn.sum;
                x->since_ns = forest->enter_ns[t] + forest->root_ns[t];
            }
        }
    }
    x->share = turn.n > 0 ? (double)turn.n_own / turn.n : 0;
}

static void finish_paths(const struct finder *f, uint32_t p)
{
    struct peer_place *place = &f->out->place[p];

    if (place->n_paths > 1)
        qsort(place->path, place->n_paths, sizeof *place->path, by_excess);
    if (place->n_paths > MOST_PATHS)
        place->n_paths = MOST_PATHS;
    for (uint32_t i = 0; i < place->n_paths; i++)
        if (place->path[i].is_more)
            place->path[i].share = 1;
        else
            date_path(f, p, &place->path[i]);
}

/* ------------------------------------------------------------------------ data and waiting */

static void add_bytes(struct finder *f)
{
    const struct trace_view *view = f->view;

    for (uint32_t l = 0; view && l < view->n_locations; l++) {
        uint32_t p = f->place_at[l];

        for (size_t i = view->first_message[l];
             p != PEERS_NONE && i < view->first_message[l + 1]; i++)
            if (view->message[i].kind == MESSAGE_SEND)
                f->out->place[p].bytes += (double)view->message[i].bytes;
    }
    for (uint32_t p = 0; p < f->out->n; p++)
        f->out->place[p].bytes /= f->out->place[p].n_executions;
}

static double median_of(const struct peers *peers, double (*value)(const struct peer_place *p))
{
    double *x = mem_alloc(peers->n, sizeof *x), median;

    for (uint32_t p = 0; p < peers->n; p++)
        x[p] = value(&peers->place[p]);
    median = robust_quantile(x, peers->n, 0.5);
    free(x);
    return median;
}

static double bytes_of(const struct peer_place *p)
{
    return p->bytes;
}

static double wait_share(const struct peer_place *p)
{
    return p->wait_ns / time_of(p);
}

/* Whom the calls of a place wait for, each for how long: the longest of each of its executions.
 */
static void follow_waits(struct finder *f, uint32_t p, double *waits)
{
    const struct forest *forest = &f->w->forest;

    for (uint32_t t = 0; t < forest->n_trees; t++) {
        uint32_t longest = forest->first[t], l = forest->location[t];
        struct waiting w;
        uint32_t row, on;

        if (f->out->of[t] != p)
            continue;
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
            if (f->w->place.path[v] != PATH_NONE && f->out->is_waiting[f->w->place.path[v]] &&
                (!f->out->is_waiting[f->w->place.path[longest]] ||
                 forest->exclusive_ns[v] > forest->exclusive_ns[longest]))
                longest = v;
        if (!f->out->is_waiting[f->w->place.path[longest]])
            continue;
        row = forest_row(forest, t, longest);
        waiting_of(f->view, l, row, f->view->calls[l].enter_ns[row],
                   calls_leave(&f->view->calls[l], row), &w);
        on = w.location < f->view->n_locations ? f->place_at[w.location] : PEERS_NONE;
        if (on != PEERS_NONE && on != p)
            waits[on] += (double)w.delay_ns;
    }
}

/* Who most of these are for; PEERS_NONE if they are for nobody. */
static uint32_t most_of(const double *waits, uint32_t n)
{
    uint32_t best = PEERS_NONE;

    for (uint32_t p = 0; p < n; p++)
        if (waits[p] > 0 && (best == PEERS_NONE || waits[p] > waits[best]))
            best = p;
    return best;
}

/* -------------------------------------------------------------------------------- verdicts */

static bool is_culprit(const struct peer_place *p)
{
    return p->verdict == PEER_SLOW || p->verdict == PEER_IMBALANCED;
}

/* More data explains that all its work takes longer. */
static bool has_more_data(const struct peer_place *p, double usual_bytes)
{
    return usual_bytes > 0 && p->bytes / usual_bytes - 1 >= DATA_SHARE * (peer_slowdown(p) - 1);
}

static void judge_work(struct finder *f)
{
    double usual_bytes = median_of(f->out, bytes_of);

    for (uint32_t i = 0; i < f->out->n; i++) {
        struct peer_place *p = &f->out->place[i];
        double least_ns = PEERS_MATERIAL * time_of(p);

        finish_paths(f, i);
        if (f->out->n < PEERS_FEWEST)
            p->verdict = PEER_UNSURE;
        else if (p->more_ns >= fmax(least_ns, p->slow_ns))
            p->verdict = PEER_IMBALANCED;
        else if (p->slow_ns >= least_ns)
            p->verdict = has_more_data(p, usual_bytes) ? PEER_IMBALANCED : PEER_SLOW;
        else if (p->slow_ns + p->maybe_ns >= least_ns)
            p->verdict = PEER_UNSURE;
    }
}

static double excess_of(const struct peer_place *p)
{
    return p->slow_ns + p->more_ns;
}

/* The culprit that others are compared with: the one with most excess per execution. */
static uint32_t worst_culprit(const struct peers *peers)
{
    uint32_t worst = PEERS_NONE;

    for (uint32_t i = 0; i < peers->n; i++) {
        const struct peer_place *p = &peers->place[i];

        if (is_culprit(p) && (worst == PEERS_NONE || excess_of(p) / p->n_executions >
                                                         excess_of(&peers->place[worst]) /
                                                             peers->place[worst].n_executions))
            worst = i;
    }
    return worst;
}

/* A share of waiting above which a place waits for others: more than the culprit does, or far
 * more than all others do. */
static double much_waiting(const struct peers *peers, uint32_t culprit)
{
    double usual = median_of(peers, wait_share), width;
    double *x;

    if (culprit != PEERS_NONE)
        return wait_share(&peers->place[culprit]) + WAIT_MATERIAL;
    x = mem_alloc(peers->n, sizeof *x);
    for (uint32_t p = 0; p < peers->n; p++)
        x[p] = wait_share(&peers->place[p]);
    width = width_around(x, peers->n, usual);
    free(x);
    return usual + fmax(TASK_WIDTHS * width, WAIT_MATERIAL);
}

/* Along the waits until one that waits for nobody, or is to blame. */
static uint32_t last_of_chain(const struct peers *peers, const uint32_t *next, uint32_t p)
{
    for (uint32_t steps = 0; steps < peers->n; steps++) {
        if (next[p] == PEERS_NONE || is_culprit(&peers->place[p]))
            return p;
        p = next[p];
    }
    return PEERS_NONE; /* in a circle */
}

static void judge_waits(struct finder *f)
{
    struct peers *peers = f->out;
    uint32_t culprit = worst_culprit(peers), *next = mem_alloc(peers->n, sizeof *next);
    double much = much_waiting(peers, culprit), *waits = mem_alloc(peers->n, sizeof *waits);

    for (uint32_t p = 0; p < peers->n; p++) {
        next[p] = PEERS_NONE;
        if (is_culprit(&peers->place[p]) || wait_share(&peers->place[p]) <= much)
            continue;
        memset(waits, 0, peers->n * sizeof *waits);
        if (f->view)
            follow_waits(f, p, waits);
        next[p] = most_of(waits, peers->n);
        peers->place[p].verdict = PEER_WAITS;
    }
    for (uint32_t p = 0; p < peers->n; p++) {
        uint32_t last = last_of_chain(peers, next, p);

        if (peers->place[p].verdict == PEER_WAITS)
            peers->place[p].waits_for = last != PEERS_NONE && last != p ? last : culprit;
    }
    free(next);
    free(waits);
}

/* --------------------------------------------------------------------------------- public */

void peers_find(const struct scoring *scoring, const struct trace_view *view, enum peer_by by,
                struct peers *out)
{
    struct finder f = {
        .w = scoring, .view = view, .out = out, .n_paths = scoring->model.paths.n};
    struct work work = {.f = &f};

    *out = (struct peers){.by = by, .slowdown = NAN};
    find_places(&f, by);
    find_waiting(&f);
    f.cell = mem_alloc((size_t)out->n * f.n_paths, sizeof *f.cell);
    go_through(&f, &work);
    fill_cells(&f, &work);
    add_bytes(&f);
    judge_paths(&f);
    judge_work(&f);
    if (out->n >= PEERS_FEWEST)
        judge_waits(&f);
    free(work.vertex);
    free(work.cell);
    free(f.cell);
    free(f.place_at);
}
