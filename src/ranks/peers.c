/* What is seen in the vertices is in cells (peer_cells.h); the rest is about these. */
#include "ranks/peers.h"

#include "base/error_bound.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/student.h"
#include "explain/waiting.h"
#include "features/robust.h"
#include "ranks/peer_cells.h"
#include "ranks/peer_costs.h"
#include "ranks/peer_few.h"
#include "ranks/peer_often.h"
#include "ranks/peer_places.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_SAMPLE 4.0  /* among n places, sampling errors count for so many n-ths more */
#define MIN_FREEDOM 10.0  /* where the places are no further apart than their calls vary */
#define MAD_FREEDOM 0.37  /* degrees of freedom of a MAD, per value: its efficiency */
#define STAGE_FACTOR 1.05 /* by which a stage takes longer than others to have more to do */
#define DATA_SHARE 0.5    /* of a slowdown that more data explains */
#define MAX_PATHS 16u     /* kept of a place */
#define MAX_LOOKED_AT 1e7 /* locations, of which each may be asked about each wait */
#define MIN_FOLLOWED 8.0  /* executions of a place */

struct peer_finder {
    const struct scoring *w;
    const struct trace_view *view;
    struct peers *out;
    struct peer_cells cells;
    uint32_t *stage;     /* [n_stages] of a pipeline; NO_STAGE is one too */
    uint32_t *stage_of;  /* [places] index of its */
    double *stage_ratio; /* [n_stages] on a path */
    uint32_t n_stages;
    uint32_t n_paths, n_tests;
};

const char *peer_verdict_name(enum peer_verdict verdict)
{
    static const char *const names[] = {"usual", "waits", "unsure", "imbalanced", "slow"};

    return names[verdict];
}

const char *peer_verdict_word(enum peer_verdict verdict)
{
    static const char *const words[] = {"typical", "waits", "inconclusive", "imbalanced",
                                        "slow"};

    return words[verdict];
}

static double time_of(const struct peer_place *p)
{
    return fmax(p->own_ns + p->wait_ns, 1);
}

double peer_slowdown(const struct peer_place *p)
{
    bool has_role = p->verdict == PEER_IMBALANCED || p->verdict == PEER_INCONCLUSIVE;

    if (!isnan(p->slowdown))
        return p->slowdown;
    return peers_factor(p->own_ns, p->slow_ns, has_role ? p->more_ns + p->maybe_ns : 0,
                        p->peers_ns);
}

void peers_release(struct peers *peers)
{
    for (uint32_t i = 0; i < peers->n; i++)
        free(peers->place[i].path);
    free(peers->place);
    free(peers->operation);
    free(peers->of);
    free(peers->at);
    free(peers->tree);
    free(peers->first_tree);
    free(peers->is_waiting);
    free(peers->waited_ns);
    free(peers->is_helper);
    peer_teams_release(&peers->teams);
    *peers = (struct peers){0};
}

/* ------------------------------------------------------------------------------- waiting */

/* Marks the functions whose calls mostly are messages or collectives. */
static void mark_communication(const struct peer_finder *f, bool *is_communication)
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
static void find_waiting(struct peer_finder *f)
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
    /* not what is beside executions, on streams that they launch */
    for (uint32_t p = 0; p < f->n_paths; p++)
        has_any |= is_communication[paths->region[p]];
    f->out->is_of_streams = has_any;
    for (uint32_t p = 0; p < f->n_paths; p++)
        f->out->is_waiting[p] = waiting_is_likely(&defs->region[paths->region[p]]) ||
                                is_communication[paths->region[p]] ||
                                (has_any && paths->parent[p] == PATH_NONE);
    free(is_communication);
}

/* ------------------------------------------------------------------------------- a path */

/* What all places do on one path, as a middle and a width. */
struct across {
    double middle, width;
    double off;    /* by which the middle may be off */
    double capped; /* of a task: the middle of what that took */
    uint32_t n;    /* places */
};

double peers_width(double *x, uint32_t n, double middle)
{
    for (uint32_t i = 0; i < n; i++)
        x[i] = fabs(x[i] - middle);
    return MAD_SIGMA * robust_quantile(x, n, 0.5);
}

/* Where the cells of a path are. */
static uint32_t cells_of(const struct peer_finder *f, uint32_t path,
                         const struct peer_cell **cell)
{
    *cell = f->cells.cell + f->cells.first[path];
    return f->cells.first[path + 1] - f->cells.first[path];
}

/* By how much the middle of a path may be off. */
static double middle_off(const struct peer_finder *f, uint32_t path)
{
    const struct peer_cell *cell;
    uint32_t n_cells = cells_of(f, path, &cell), n = 0;
    double *above, *off, middle;

    if (f->w->forest.off_ns == NULL)
        return 0;
    above = mem_alloc(n_cells, sizeof *above);
    off = mem_alloc(n_cells, sizeof *off);
    for (uint32_t i = 0; i < n_cells; i++)
        if (cell[i].n_values >= PEERS_MIN_CALLS) {
            above[n] = cell[i].above_stage;
            off[n++] = cell[i].above_off;
        }
    middle = robust_median_off(above, off, n);
    free(above);
    free(off);
    return middle;
}

static struct across across_places(const struct peer_finder *f, uint32_t path, double *scratch)
{
    const struct peer_cell *cell;
    uint32_t n = cells_of(f, path, &cell);
    struct across a = {.n = 0};

    for (uint32_t i = 0; i < n; i++)
        if (cell[i].n_values >= PEERS_MIN_CALLS)
            scratch[a.n++] = cell[i].above_stage;
    if (a.n < PEERS_MIN_PLACES)
        return a;
    a.middle = robust_quantile(scratch, a.n, 0.5);
    a.width = fmax(peers_width(scratch, a.n, a.middle), PEERS_MIN_WIDTH);
    a.off = middle_off(f, path);
    return a;
}

/* What there is to do in an execution, by what is typical of such calls, */
static double task_of(const struct peer_finder *f, const struct peer_cell *cell)
{
    return cell->typical_ns / f->out->place[cell->place].n_executions;
}

/* or by what they took. */
static double capped_of(const struct peer_finder *f, const struct peer_cell *cell)
{
    return cell->capped_ns / f->out->place[cell->place].n_executions;
}

/*
 * What there is to do on the path in an execution, of all places; or, where most never come by,
 * of those that do, if they can be compared: streams and threads have their parts to play.
 */
static struct across tasks_across(const struct peer_finder *f, uint32_t path, double *scratch)
{
    const struct peer_cell *cell;
    uint32_t n_there = cells_of(f, path, &cell);
    struct across a = {.n = f->out->n};

    if (a.n < PEERS_MIN_PLACES)
        return a;
    if (2 * n_there <= a.n && n_there >= PEERS_MIN_PLACES)
        a.n = n_there;
    else if (2 * n_there < a.n) /* most have nothing to do there */
        return a;
    for (uint32_t i = 0; i < a.n; i++)
        scratch[i] = i < n_there ? capped_of(f, &cell[i]) : 0;
    a.capped = robust_quantile(scratch, a.n, 0.5);
    for (uint32_t i = 0; i < a.n; i++)
        scratch[i] = i < n_there ? task_of(f, &cell[i]) : 0;
    a.middle = robust_quantile(scratch, a.n, 0.5);
    a.width = peers_width(scratch, a.n, a.middle);
    return a;
}

void peer_place_add(struct peer_place *place, const struct peer_path *found)
{
    place->path = mem_resize(place->path, place->n_paths + 1, sizeof *place->path);
    place->path[place->n_paths++] = *found;
}

/*
 * How far places are apart is known from few of them; but that they cannot be closer than their
 * calls vary is known well. What few places show by chance to be closer than they are is
 * allowed for.
 */
double peers_chance(double above, double width, uint32_t n, double error)
{
    double freedom = fmax(1, MAD_FREEDOM * (n - 1));
    double floor = error * (1 + SMALL_SAMPLE / n);

    if (width > floor)
        return student_tail(above / width, freedom);
    return student_tail(above / floor, fmax(freedom, MIN_FREEDOM));
}

static double chance_of(double above, const struct across *a, double error)
{
    return peers_chance(above, a->width, a->n, error);
}

static double excess_of_calls(const struct peer_finder *f, const struct peer_cell *cell,
                              double above)
{
    return peer_cell_excess(cell, above, f->w->model.offset_ns);
}

static double factor_of(const struct peer_cell *cell, double excess_ns)
{
    return cell->time_ns > 0 ? cell->time_ns / (cell->time_ns - excess_ns) : 1;
}

/* How long its calls take, of their own time: what that is above those of the peers. */
static void set_excess(const struct peer_finder *f, const struct peer_cell *cell,
                       struct peer_path *found)
{
    double excess_ns = excess_of_calls(f, cell, found->above);

    found->excess_ns = excess_ns;
    found->factor = factor_of(cell, excess_ns);
    found->off_ns = fmax(
        excess_of_calls(f, cell, found->above + found->off) - excess_ns,
        excess_ns - excess_of_calls(f, cell, error_bound_beyond(found->above, found->off)));
}

/* What of it is no matter of begins and ends that were elsewhere. */
static bool is_surely_slow(const struct peer_finder *f, const struct peer_cell *cell,
                           const struct peer_path *found, const struct across *a)
{
    double above = error_bound_beyond(found->above, found->off);

    return !cell->is_alone &&
           f->n_tests * chance_of(above, a, cell->error) <= PEERS_FALSE_ALARMS &&
           factor_of(cell, excess_of_calls(f, cell, above)) >= PEERS_MIN_FACTOR;
}

static void judge_time(struct peer_finder *f, const struct peer_cell *cell, uint32_t path,
                       const struct across *a)
{
    struct peer_place *place = &f->out->place[cell->place];
    struct peer_path found = {.path = path,
                              .above = cell->above_stage - a->middle,
                              .off = cell->above_off + a->off,
                              .error = fmax(a->width, cell->error),
                              .of_executions = f->cells.is_summed[path],
                              .stage = NO_STAGE};

    if (a->n < PEERS_MIN_PLACES || cell->n_values < PEERS_MIN_CALLS)
        return;
    set_excess(f, cell, &found);
    if (found.factor < PEERS_MIN_FACTOR)
        return;
    if (f->n_tests * chance_of(found.above, a, cell->error) > PEERS_MAYBE * PEERS_FALSE_ALARMS)
        return;
    found.is_sure = is_surely_slow(f, cell, &found, a);
    if (found.excess_ns < PEERS_WORTH_NAMING * time_of(place))
        return;
    found.is_more = found.is_sure && found.factor >= PEERS_ROLE_FACTOR;
    if (found.is_more) {
        place->more_ns += found.excess_ns;
    } else if (found.is_sure) {
        place->slow_ns += found.excess_ns;
        place->off_ns += found.off_ns;
    } else {
        place->maybe_ns += found.excess_ns;
    }
    peer_place_add(place, &found);
}

static void judge_task(struct peer_finder *f, const struct peer_cell *cell, uint32_t path,
                       const struct across *a)
{
    struct peer_place *place = &f->out->place[cell->place];
    double task = task_of(f, cell), more = task - a->middle, took = capped_of(f, cell);
    struct peer_path found = {
        .path = path, .is_more = true, .is_sure = true, .stage = NO_STAGE};

    if (a->n < PEERS_MIN_PLACES || more <= PEERS_TASK_WIDTHS * a->width ||
        task < PEERS_MIN_FACTOR * a->middle)
        return;
    /* calls that are more may be shorter than is typical, as the rest of a block */
    found.factor = a->middle > 0 ? fmin(task / a->middle, took / a->capped) : INFINITY;
    found.excess_ns = fmin(more, took - a->capped) * place->n_executions;
    if (found.factor < PEERS_MIN_FACTOR ||
        found.excess_ns < PEERS_WORTH_NAMING * time_of(place))
        return;
    if (!peer_task_comes_often(f->w, f->out, cell->place, path, a->middle + more / 2))
        return;
    place->more_ns += found.excess_ns;
    peer_place_add(place, &found);
}

/* ------------------------------------------------------------------------------- stages */

static void find_stages(struct peer_finder *f)
{
    f->stage_of = mem_alloc(f->out->n, sizeof *f->stage_of);
    f->stage = mem_alloc(f->out->n, sizeof *f->stage);
    f->stage_ratio = mem_alloc(f->out->n, sizeof *f->stage_ratio);
    for (uint32_t p = 0; p < f->out->n; p++) {
        uint32_t i = 0;

        while (i < f->n_stages && f->stage[i] != f->out->place[p].stage)
            i++;
        if (i == f->n_stages)
            f->stage[f->n_stages++] = f->out->place[p].stage;
        f->stage_of[p] = i;
    }
}

/*
 * What a stage of a pipeline takes for a path: the lower median of its places, but one. So that
 * of two places the slow one is above the stage, not both. NAN if there is none.
 */
static double ratio_of_stage(const struct peer_finder *f, uint32_t path, uint32_t stage,
                             uint32_t but, double *scratch)
{
    const struct peer_cell *cell;
    uint32_t n_cells = cells_of(f, path, &cell), n = 0;

    for (uint32_t i = 0; i < n_cells; i++)
        if (cell[i].place != but && f->stage_of[cell[i].place] == stage &&
            cell[i].n_values >= PEERS_MIN_CALLS)
            scratch[n++] = cell[i].ratio;
    if (n > 1)
        qsort(scratch, n, sizeof *scratch, order_f64);
    return n > 0 ? scratch[(n - 1) / 2] : NAN;
}

/* Without stages there is nothing to leave out. */
static void leave_out_stages(struct peer_finder *f, uint32_t path, double *scratch)
{
    double most_off = 0;

    for (uint32_t i = 0; i < f->n_stages; i++)
        f->stage_ratio[i] = ratio_of_stage(f, path, i, PEERS_NONE, scratch);
    for (uint32_t c = f->cells.first[path]; c < f->cells.first[path + 1]; c++)
        most_off = fmax(most_off, f->cells.cell[c].off);
    for (uint32_t c = f->cells.first[path]; c < f->cells.first[path + 1]; c++) {
        struct peer_cell *cell = &f->cells.cell[c];
        uint32_t stage = f->out->place[cell->place].stage;
        double others = NAN;

        if (stage != NO_STAGE && cell->n_values >= PEERS_MIN_CALLS)
            others = ratio_of_stage(f, path, f->stage_of[cell->place], cell->place, scratch);
        cell->is_alone = stage != NO_STAGE && isnan(others);
        cell->above_stage = cell->ratio - (isnan(others) ? 0 : others);
        cell->above_off = cell->off + (isnan(others) ? 0 : most_off);
    }
}

/* What takes longer on all places of a stage is more work that it was given. */
static void judge_stage(struct peer_finder *f, const struct peer_cell *cell, uint32_t path,
                        const struct across *a, double *scratch)
{
    struct peer_place *place = &f->out->place[cell->place];
    struct peer_path found = {
        .path = path, .is_more = true, .is_sure = true, .stage = NO_STAGE};
    uint32_t stage = f->stage_of[cell->place], n = 0;

    if (place->stage == NO_STAGE || cell->n_values < PEERS_MIN_CALLS || cell->is_alone)
        return;
    /* by how much the stage takes longer for the path than the middle of the others */
    for (uint32_t i = 0; i < f->n_stages; i++)
        if (i != stage && !isnan(f->stage_ratio[i]))
            scratch[n++] = f->stage_ratio[i];
    found.above = n > 0 ? f->stage_ratio[stage] - robust_quantile(scratch, n, 0.5) : 0;
    found.off = cell->above_off;
    set_excess(f, cell, &found);
    if (found.factor < STAGE_FACTOR ||
        error_bound_beyond(found.above, found.off) <= PEERS_TASK_WIDTHS * a->width)
        return;
    if (found.excess_ns < PEERS_WORTH_NAMING * time_of(place))
        return;
    place->more_ns += found.excess_ns;
    peer_place_add(place, &found);
}

static void judge_paths(struct peer_finder *f)
{
    double *scratch = mem_alloc(f->out->n, sizeof *scratch);

    f->n_tests = 0;
    for (uint32_t i = 0; i < f->cells.first[f->n_paths]; i++)
        f->n_tests += f->cells.cell[i].n_values >= PEERS_MIN_CALLS;
    for (uint32_t path = 0; path < f->n_paths; path++) {
        const struct peer_cell *cell;
        uint32_t n_cells = cells_of(f, path, &cell);
        struct across time, task;

        if (f->out->is_waiting[path])
            continue;
        leave_out_stages(f, path, scratch);
        time = across_places(f, path, scratch);
        task = tasks_across(f, path, scratch);
        for (uint32_t i = 0; i < n_cells; i++) {
            judge_time(f, &cell[i], path, &time);
            judge_task(f, &cell[i], path, &task);
            judge_stage(f, &cell[i], path, &time, scratch);
        }
    }
    free(scratch);
}

/* --------------------------------------------------------------------- since when, how often
 */

static int by_excess(const void *a, const void *b)
{
    const struct peer_path *p = a, *q = b;

    return ORDER(q->is_sure, p->is_sure) ?:
           ORDER(q->excess_ns, p->excess_ns) ?:
           ORDER(p->path, q->path);
}

/* From where on calls of a location are rather the place's own than its peers': where their sum is
 * lowest. */
struct turn {
    double sum, least;
    uint32_t n, n_own;
    uint64_t since_ns; /* when there is one: least is below 0 */
};

static void turn_add(struct turn *turn, double above)
{
    if (isnan(above))
        return;
    turn->sum += fmin(fmax(above, -1), 1);
    turn->n++;
    turn->n_own += above > 0;
}

/* What the executions of a place from one on say that are of its location. Returns the next. */
static uint32_t turn_of(const struct peer_finder *f, uint32_t p, uint32_t from,
                        const struct peer_path *x, struct turn *turn)
{
    const struct forest *forest = &f->w->forest;
    double border = peer_cells_find(&f->cells, p, x->path)->ratio - x->above / 2;
    uint32_t location = forest->location[f->out->tree[from]], i = from;

    *turn = (struct turn){0};
    for (; i < f->out->first_tree[p + 1]; i++) {
        uint32_t t = f->out->tree[i];

        if (forest->location[t] != location)
            break;
        if (f->cells.is_summed[x->path])
            turn_add(turn, peer_ratio_summed(f->w, f->out, t, x->path) - border);
        else
            for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
                if (residual_path(&f->w->place, forest, t, v) == x->path)
                    turn_add(turn, peer_ratio(f->w, f->out, t, v) - border);
        if (turn->sum < turn->least) { /* from a whole execution on, of the next */
            turn->least = turn->sum;
            turn->since_ns = forest->enter_ns[t] + forest->root_ns[t];
        }
    }
    return i;
}

/* Of several locations the one that most of it is from says since when. */
static void date_path(const struct peer_finder *f, uint32_t p, struct peer_path *x)
{
    uint32_t n = 0, n_own = 0;
    double most = 0;

    x->since_ns = f->w->forest.enter_ns[f->out->tree[f->out->first_tree[p]]];
    x->is_from_start = true;
    for (uint32_t i = f->out->first_tree[p]; i < f->out->first_tree[p + 1];) {
        uint64_t begin_ns = f->w->forest.enter_ns[f->out->tree[i]];
        struct turn turn;

        i = turn_of(f, p, i, x, &turn);
        n += turn.n;
        n_own += turn.n_own;
        if (turn.sum - turn.least <= most)
            continue;
        most = turn.sum - turn.least;
        x->is_from_start = turn.least == 0;
        x->since_ns = x->is_from_start ? begin_ns : turn.since_ns;
    }
    x->share = n > 0 ? (double)n_own / n : 0;
}

static void finish_paths(const struct peer_finder *f, uint32_t p)
{
    struct peer_place *place = &f->out->place[p];

    if (place->n_paths > 1)
        qsort(place->path, place->n_paths, sizeof *place->path, by_excess);
    if (place->n_paths > MAX_PATHS)
        place->n_paths = MAX_PATHS;
    for (uint32_t i = 0; i < place->n_paths; i++) {
        struct peer_path *x = &place->path[i];

        x->n_there = f->cells.first[x->path + 1] - f->cells.first[x->path];
        if (x->is_more)
            x->share = 1;
        else
            date_path(f, p, x);
    }
}

/* ------------------------------------------------------------------------ data and waiting */

/* From the first execution of a place to the end of its last. */
struct place_span {
    uint64_t begin_ns, end_ns;
};

static struct place_span *spans_of_places(const struct peer_finder *f)
{
    const struct forest *forest = &f->w->forest;
    struct place_span *span = mem_alloc(f->out->n, sizeof *span);

    for (uint32_t p = 0; p < f->out->n; p++)
        span[p].begin_ns = UINT64_MAX;
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        const struct call_view *calls = &f->view->calls[forest->location[t]];
        uint32_t root = forest_row(forest, t, forest->first[t]);
        struct place_span *s = &span[f->out->of[t]];

        if (calls->enter_ns[root] < s->begin_ns)
            s->begin_ns = calls->enter_ns[root];
        if (calls_leave(calls, root) > s->end_ns)
            s->end_ns = calls_leave(calls, root);
    }
    return span;
}

/* What is sent between executions, or by other threads, is data of a place as well; what is sent
 * before all of them, as input is dealt out, explains none. */
static void add_bytes(struct peer_finder *f)
{
    struct place_span *span = f->view ? spans_of_places(f) : NULL;

    for (uint32_t l = 0; f->view && l < f->view->n_locations; l++) {
        const struct call_view *calls = &f->view->calls[l];
        uint32_t p = f->out->at[l];

        for (size_t i = 0; p != PEERS_NONE && i < calls->n_messages; i++) {
            const struct message *m = &calls->message[i];
            uint64_t enter_ns = m->call < calls->n ? calls->enter_ns[m->call] : m->begin_ns;

            if (m->kind == MESSAGE_SEND && enter_ns >= span[p].begin_ns &&
                enter_ns <= span[p].end_ns)
                f->out->place[p].bytes += (double)m->bytes;
        }
    }
    free(span);
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

static double waited_in(const struct peer_finder *f, uint32_t t, uint32_t v)
{
    uint32_t path = residual_path(&f->w->place, &f->w->forest, t, v);

    if (path != PATH_NONE && f->out->is_waiting[path])
        return (double)f->w->forest.exclusive_ns[v];
    return f->out->waited_ns ? f->out->waited_ns[v] : 0;
}

/* Of n executions of a place; where each would take too long, some from begin to end tell. */
static uint32_t n_to_follow(const struct peer_finder *f, uint32_t n)
{
    double most = MAX_LOOKED_AT / ((double)f->out->n * f->view->n_locations);

    return (uint32_t)fmin(n, fmax(most, MIN_FOLLOWED));
}

/* Whom the calls of a place wait for, each for how long: the longest of each of its executions.
 */
static void follow_waits(struct peer_finder *f, uint32_t p, double *waits)
{
    const struct forest *forest = &f->w->forest;
    uint32_t first = f->out->first_tree[p], n = f->out->first_tree[p + 1] - first;
    uint32_t n_followed = n_to_follow(f, n);

    for (uint32_t i = 0; i < n_followed; i++) {
        uint32_t t = f->out->tree[first + (uint64_t)i * n / n_followed];
        uint32_t longest = forest->first[t], l = forest->location[t];
        double longest_ns = 0;
        struct waiting w;
        uint32_t row, on;

        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
            if (waited_in(f, t, v) > longest_ns) {
                longest = v;
                longest_ns = waited_in(f, t, v);
            }
        if (longest_ns <= 0)
            continue;
        row = forest_row(forest, t, longest);
        waiting_of(f->view, l, row, f->view->calls[l].enter_ns[row],
                   calls_leave(&f->view->calls[l], row), &w);
        on = w.location < f->view->n_locations ? f->out->at[w.location] : PEERS_NONE;
        if (on != PEERS_NONE && (on != p || peer_is_other_thread(f->view, l, w.location)))
            waits[on] += (double)w.delay_ns;
    }
}

/* -------------------------------------------------------------------------------- verdicts */

/* More data explains that all its work takes longer. */
static bool has_more_data(const struct peer_place *p, double typical_bytes)
{
    return typical_bytes > 0 &&
           p->bytes / typical_bytes - 1 >= DATA_SHARE * (peer_slowdown(p) - 1);
}

static bool is_few(const struct peers *peers)
{
    return peers->n < PEERS_MIN_PLACES;
}

static void judge_work(struct peer_finder *f)
{
    double typical_bytes = median_of(f->out, bytes_of);

    peer_places_compare(f->out);

    for (uint32_t i = 0; i < f->out->n; i++) {
        struct peer_place *p = &f->out->place[i];
        double least_ns = PEERS_MATERIAL * time_of(p);

        finish_paths(f, i);
        if (is_few(f->out))
            continue;
        if (p->more_ns >= fmax(least_ns, p->slow_ns))
            p->verdict = PEER_IMBALANCED;
        else if (error_bound_beyond(p->slow_ns, p->off_ns) >= least_ns)
            p->verdict = has_more_data(p, typical_bytes) ? PEER_IMBALANCED : PEER_SLOW;
        else if (p->slow_ns + p->maybe_ns >= least_ns)
            p->verdict = PEER_INCONCLUSIVE;
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

        if (peers_is_to_blame(p) &&
            (worst == PEERS_NONE ||
             excess_of(p) / p->n_executions >
                 excess_of(&peers->place[worst]) / peers->place[worst].n_executions))
            worst = i;
    }
    return worst;
}

/* A share of waiting above which a place waits for others: more than the culprit does, or far
 * more than all others do. */
static double much_waiting(const struct peers *peers, uint32_t culprit)
{
    double typical = median_of(peers, wait_share), width;
    double *x;

    if (culprit != PEERS_NONE)
        return wait_share(&peers->place[culprit]) + PEERS_WAIT_MATERIAL;
    x = mem_alloc(peers->n, sizeof *x);
    for (uint32_t p = 0; p < peers->n; p++)
        x[p] = wait_share(&peers->place[p]);
    width = peers_width(x, peers->n, typical);
    free(x);
    return typical + fmax(PEERS_TASK_WIDTHS * width, PEERS_WAIT_MATERIAL);
}

/* What a place has more to do does not matter when it waits for longer than that for one that
 * is slow. */
static bool is_outdone(const struct peers *peers, uint32_t place, uint32_t culprit)
{
    const struct peer_place *p = &peers->place[place];

    return p->verdict == PEER_IMBALANCED && culprit != PEERS_NONE &&
           peers->place[culprit].verdict == PEER_SLOW &&
           (wait_share(p) - wait_share(&peers->place[culprit])) * time_of(p) > p->more_ns;
}

/* Along the waits until one that waits for nobody, or is to blame. */
static uint32_t last_of_chain(const struct peers *peers, const uint32_t *next, uint32_t p)
{
    for (uint32_t steps = 0; steps < peers->n; steps++) {
        if (next[p] == PEERS_NONE || next[p] == p || peers_is_to_blame(&peers->place[p]))
            return p;
        p = next[p];
    }
    return PEERS_NONE; /* in a circle */
}

static void judge_waits(struct peer_finder *f)
{
    struct peers *peers = f->out;
    uint32_t culprit = worst_culprit(peers), *next = mem_alloc(peers->n, sizeof *next);
    double much = much_waiting(peers, culprit), *waits = mem_alloc(peers->n, sizeof *waits);

    for (uint32_t p = 0; p < peers->n; p++) {
        next[p] = PEERS_NONE;
        if (wait_share(&peers->place[p]) <= much ||
            (peers_is_to_blame(&peers->place[p]) && !is_outdone(peers, p, culprit)))
            continue;
        memset(waits, 0, peers->n * sizeof *waits);
        if (f->view)
            follow_waits(f, p, waits);
        for (uint32_t i = 0; i < peers->n; i++) /* who most of them are for */
            if (waits[i] > 0 && (next[p] == PEERS_NONE || waits[i] > waits[next[p]]))
                next[p] = i;
        peers->place[p].verdict = PEER_WAITS;
    }
    for (uint32_t p = 0; p < peers->n; p++) {
        uint32_t last = last_of_chain(peers, next, p);

        if (peers->place[p].verdict != PEER_WAITS)
            continue;
        /* that streams are idle has no record which could be followed */
        if (last == PEERS_NONE || (last == p && next[p] != p && peers->is_of_streams))
            last = culprit;
        peers->place[p].waits_for = last != p || next[p] == p ? last : PEERS_NONE;
    }
    free(next);
    free(waits);
}

/* --------------------------------------------------------------------------------- public */

/* Whether a place has much more own work in an execution than the one in the middle. */
static bool are_apart(const struct peer_finder *f, double least)
{
    const struct peers *peers = f->out;
    double *own = mem_alloc(peers->n, sizeof *own), most = 0, middle;

    for (uint32_t t = 0; t < f->w->forest.n_trees; t++)
        own[peers->of[t]] += peer_own_ns(f->w, peers, t);
    for (uint32_t p = 0; p < peers->n; p++) {
        own[p] /= peers->place[p].n_executions;
        most = fmax(most, own[p]);
    }
    middle = robust_quantile(own, peers->n, 0.5);
    if (peers->n == 2) /* which is between them */
        middle = fmin(own[0], own[1]);
    free(own);
    return most >= least * middle;
}

/* Compares the places as they are. */
static void find(struct peer_finder *f, const struct peers_opts *opts)
{
    struct peers *out = f->out;

    peer_places_find(f->w, opts, out);
    out->n_compared = out->n;
    if (opts->least_apart > 0 && !are_apart(f, opts->least_apart))
        return;
    find_stages(f);
    peer_cells_make(&f->cells, f->w, PEERS_MIN_WIDTH, out);
    add_bytes(f);
    if (is_few(out))
        peer_few_judge(f->w, &f->cells, PEERS_FALSE_ALARMS, out);
    else
        judge_paths(f);
    judge_work(f);
    peer_often_judge(f->w, &f->cells, PEERS_FALSE_ALARMS, out);
    peer_cells_others(&f->cells, out);
    if (out->n >= PEER_FEW_MIN_PLACES)
        judge_waits(f);
    peer_cells_release(&f->cells);
    free(f->stage);
    free(f->stage_of);
    free(f->stage_ratio);
}

void peers_find(const struct scoring *scoring, const struct trace_view *view,
                const struct peers_opts *opts, struct peers *out)
{
    struct peer_finder f = {
        .w = scoring, .view = view, .out = out, .n_paths = scoring->model.paths.n};
    struct peers_opts worker = {PEERS_BY_WORKER, opts->stage, opts->least_apart};
    struct peers workers;

    *out = (struct peers){.slowdown = NAN};
    find_waiting(&f);
    if (view)
        peer_helpers_split(out, scoring, view);
    if (!out->is_of_streams || opts->by == PEERS_BY_THREAD || opts->by == PEERS_BY_WORKER) {
        find(&f, opts);
        if (view)
            peer_helpers_name(out, scoring, view);
    } else {
        find(&f, &worker);
        workers = *out;
        peers_lift(scoring, &workers, opts, out);
        peers_release(&workers);
    }
    if (view)
        peer_teams_find(scoring, view, &out->teams);
}
