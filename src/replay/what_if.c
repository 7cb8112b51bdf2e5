/*
 * A run is looked at through a view of its columns; what is taken out of an execution is taken
 * out of the calls that it lost the time in, of a wait for a GPU out of what that did. Of ideal
 * operations cuts are as long as what each took beyond the ideal; shorter ones are made longer.
 */
#include "replay/what_if.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/order.h"
#include "explain/team_barrier.h"
#include "explain/waiting.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>

/* Of what a call lost: that its GPU waited so much for another rank's is why. */
#define WAITED_SHARE 0.5

static bool is_sound(const struct trace_view *view, uint32_t location)
{
    if (columns_check(view->ctx, location, view->defs) == 0)
        return true;
    log_warn("run", "%s", err_message());
    return false;
}

static void drop(const struct trace_view *view)
{
    columns_drop(view->ctx);
}

void run_view_init(struct trace_view *view, const struct columns *columns,
                   const struct definitions *defs)
{
    struct call_view *calls = mem_alloc(columns->n_locations, sizeof *calls);

    for (uint32_t l = 0; l < columns->n_locations; l++)
        calls[l] = columns_view(columns, l);
    trace_view_init(view, defs, calls, columns->message);
    view->dependency = columns->dependency;
    view->n_dependencies = columns->n_dependencies;
    view->is_whole = true;
    view->is_sound = is_sound;
    view->on_passed = drop;
    view->ctx = columns;
}

int what_if_init(struct what_if *w, const struct columns *columns,
                 const struct definitions *defs)
{
    int rc = 0;

    *w = (struct what_if){0};
    run_view_init(&w->view, columns, defs);
    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++) {
        rc = columns_check(columns, l, defs);
        trace_view_passed(&w->view);
    }
    if (rc == 0)
        rc = syncs_init(&w->syncs, &w->view);
    if (rc == 0) {
        replay_init(&w->replay, &w->syncs);
        gaps_close(&w->replay, &w->syncs);
    }
    return rc;
}

void what_if_release(struct what_if *w)
{
    replay_release(&w->replay);
    syncs_release(&w->syncs);
    trace_view_release(&w->view);
}

void what_if_fork(const struct what_if *w, struct what_if *fork)
{
    *fork = *w;
    replay_init(&fork->replay, &w->syncs);
}

void what_if_fork_release(struct what_if *fork)
{
    replay_release(&fork->replay);
}

/* A model of centuries makes an excess of centuries: sums of it and of times must be numbers.
 */
static int64_t nearest_ns(double ns)
{
    return llrint(fmax(fmin(ns, (double)MAX_ADDED_NS), -(double)MAX_ADDED_NS));
}

/* Those of one function on a stream that were at work between two times, newest first: the sum
 * of what they took, or, once that is known as total_ns, what could be taken out of each as its
 * share of excess_ns. */
static int64_t each_operation(struct what_if *w, struct device_operation like, uint64_t from_ns,
                              uint64_t to_ns, int64_t excess_ns, int64_t total_ns)
{
    const struct call_view *calls = &w->view.calls[like.location];
    struct device_operation o;
    bool is_any = device_operation_until(&w->view, like.location, to_ns, &o);
    int64_t sum = 0;

    for (int step = 0;
         is_any && step < DEVICE_PATH_MAX_OPERATIONS && calls_leave(calls, o.row) > from_ns;
         step++) {
        int64_t took_ns = (int64_t)calls->inclusive_ns[o.row];

        if (calls->region[o.row] == calls->region[like.row])
            sum += total_ns == 0 ? took_ns
                                 : replay_cut(&w->replay, o.location, o.row,
                                              nearest_ns((double)excess_ns * (double)took_ns /
                                                         (double)total_ns));
        is_any = device_operation_before(&w->view, o, &o);
    }
    return sum;
}

/*
 * Who waits for its own GPU has lost what that took more: which is taken out of the operations
 * that took longest there, all of that function. Where the GPU waited for another rank's, most of
 * that, nothing is, as of any wait. What the GPU does not explain is the call's own.
 */
static int64_t cut_device(struct what_if *w, uint32_t location, uint32_t row, int64_t excess_ns)
{
    const struct trace_view *view = &w->view;
    uint64_t enter = view->calls[location].enter_ns[row],
             leave = calls_leave(&view->calls[location], row);
    struct device_operation last;
    struct device_path path;
    struct waiting beyond;
    int64_t total_ns, of_gpu_ns;

    if (!waiting_of_device(view, location, row, 0, &last, &beyond))
        return replay_cut(&w->replay, location, row, excess_ns);
    if (beyond.kind != WAITING_NOT && beyond.is_late &&
        (double)beyond.delay_ns >= WAITED_SHARE * (double)excess_ns)
        return 0;
    device_path_of(view, last, enter, &path);
    total_ns = each_operation(w, path.longest, enter, leave, 0, 0);
    of_gpu_ns = excess_ns < total_ns ? excess_ns : total_ns;
    if (of_gpu_ns > 0)
        of_gpu_ns = each_operation(w, path.longest, enter, leave, of_gpu_ns, total_ns);
    return of_gpu_ns + replay_cut(&w->replay, location, row, excess_ns - of_gpu_ns);
}

/* The gaps of the tracer's calls lie before some vertices: rows follow vertices but for these.
 */
int64_t what_if_cut(struct what_if *w, const struct forest *forest, uint32_t t,
                    const double *excess_ns)
{
    uint32_t first = forest->first[t], n = forest->first[t + 1] - first, n_gap_rows = 0;
    uint32_t location = forest->location[t];
    const struct call_view *calls = &w->view.calls[location];
    const struct forest_gap *gap;
    size_t n_gaps = forest_gaps(forest, t, &gap), next = 0;
    int64_t cut = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t row;
        int64_t ns;

        while (next < n_gaps && gap[next].vertex <= first + i)
            n_gap_rows += gap[next++].n_rows;
        if (!(fabs(excess_ns[i]) >= 1))
            continue;
        row = forest->call[t] + i + n_gap_rows;
        ns = nearest_ns(excess_ns[i]);
        if (ns > 0 && w->view.defs->region[calls->region[row]].kind == REGION_DEVICE)
            cut += cut_device(w, location, row, ns);
        else
            cut += replay_cut(&w->replay, location, row, ns);
    }
    return cut;
}

/* Whether a team was made by a location in or after a call. */
static bool is_of_call(const struct trace_view *view, uint32_t team, uint32_t location,
                       uint32_t row)
{
    size_t first = view->first_span[location];

    return team >= first && team < view->first_span[location + 1] &&
           view->calls[location].span[team - first].first_row > row;
}

static uint64_t fork_ns(const struct trace_view *view, uint32_t location, uint32_t team)
{
    return view->calls[location].span[team - view->first_span[location]].begin_ns;
}

/* What held up whoever forked since it was last in step with its team: in calls since then, and
 * in those of OpenMP that are around the barrier, vertex v of tree t.
 *   waits_ns  in those that wait, which is not in it */
static double held_before(const struct what_if *w, const struct forest *forest, uint32_t t,
                          uint32_t v, const struct team_barrier *barrier,
                          const double *excess_ns, double *waits_ns)
{
    const struct call_view *calls = &w->view.calls[forest->location[t]];
    const struct region *region = w->view.defs->region;
    uint32_t first = forest->first[t], i = v;
    struct team_stretch stretch;
    double held_ns = 0;

    *waits_ns = 0;
    if (!team_barrier_stretch(&w->view, barrier, forest->location[t], &stretch))
        return 0;
    while (i-- > first && calls->enter_ns[forest_row(forest, t, i)] >= stretch.from_ns)
        *(w->syncs.is_waiting[forest->region[i]] ? waits_ns : &held_ns) += excess_ns[i - first];
    for (uint32_t p = forest->parent[v]; p != FOREST_ROOT; p = forest->parent[p])
        if (p <= i && region[forest->region[p]].kind == REGION_OPENMP)
            held_ns += excess_ns[p - first];
    return held_ns;
}

/* What it waited less than typical at the barrier is by who came last, but for what it came later
 * itself, as it waited for something else: a GPU, say. */
static int64_t cut_barrier(struct what_if *w, const struct forest *forest, uint32_t t,
                           uint32_t v, const struct team_barrier *barrier,
                           const double *excess_ns)
{
    uint32_t location = forest->location[t];
    double late_ns = excess_ns[v - forest->first[t]], waits_ns;
    double held_ns = held_before(w, forest, t, v, barrier, excess_ns, &waits_ns);

    if (late_ns + held_ns < 0)
        held_ns = fmin(held_ns + fmax(waits_ns, 0), -late_ns);
    return replay_cut_late(&w->replay, location, forest_row(forest, t, v),
                           fork_ns(&w->view, location, barrier->team), nearest_ns(late_ns),
                           nearest_ns(held_ns));
}

int64_t what_if_cut_teams(struct what_if *w, const struct forest *forest, uint32_t t,
                          const double *excess_ns)
{
    uint32_t location = forest->location[t], first = forest->first[t];
    int64_t cut = 0;

    if (w->view.calls[location].n_spans == 0 || !syncs_takes_part(&w->syncs, location))
        return 0;
    for (uint32_t v = first; v < forest->first[t + 1]; v++) {
        struct team_barrier barrier;

        if (w->syncs.is_waiting[forest->region[v]] &&
            team_barrier_of(&w->view, location, forest_row(forest, t, v), &barrier) &&
            is_of_call(&w->view, barrier.team, location, forest->call[t]))
            cut += cut_barrier(w, forest, t, v, &barrier, excess_ns);
    }
    return cut;
}

/* A border comes before a call of MPI that is entered at the same time. */
static int64_t cut_border(struct what_if *w, uint32_t location, uint64_t time_ns,
                          uint64_t off_ns, int way)
{
    /* no border is further off than the run is long */
    uint64_t most_ns = w->syncs.end_ns - w->syncs.begin_ns;
    int64_t off = (int64_t)(off_ns < most_ns ? off_ns : most_ns);

    replay_cut_after(&w->replay, location, time_ns > 0 ? time_ns - 1 : 0, way * off);
    return off;
}

int64_t what_if_off(struct what_if *w, const struct forest *forest, uint32_t t, uint32_t v,
                    int way)
{
    uint32_t location = forest->location[t], row = forest_row(forest, t, v);
    const struct call_view *calls = &w->view.calls[location];

    return cut_border(w, location, calls->enter_ns[row], calls_off_ns(calls, row, false), way) +
           cut_border(w, location, calls_leave(calls, row), calls_off_ns(calls, row, true),
                      way);
}

/* ------------------------------------------------------------------------- ideal operations */

static uint32_t region_of(const struct syncs *s, uint32_t ready)
{
    const struct sync *k = &s->sync[ready];

    return s->view->calls[syncs_location(s, ready)].region[k->call];
}

/* What an operation took once it and all others in it had begun. */
static int64_t took_ns(const struct syncs *s, uint32_t ready)
{
    const struct sync *k = &s->sync[ready + 1];
    uint64_t from = k->last_ns > k->enter_ns ? k->last_ns : k->enter_ns;

    if (!syncs_exchanges(s, ready))
        return (int64_t)(k->enter_ns - k[-1].leave_ns);
    return k->leave_ns > from ? (int64_t)(k->leave_ns - from) : 0;
}

static void find_operations(struct ideal *x)
{
    const struct syncs *s = x->replay->syncs;

    x->ready = mem_alloc(s->n, sizeof *x->ready);
    for (uint32_t k = 0; k < s->n; k++)
        if (syncs_is_ready(s, k)) {
            struct ideal_kind *kind = &x->kind[region_of(s, k)];

            x->ready[x->n++] = k;
            kind->n++;
            kind->sum_ns += (double)took_ns(s, k);
            kind->is_exchange |= syncs_exchanges(s, k);
        }
}

static int by_time(const void *a, const void *b)
{
    const int64_t *p = a, *q = b;

    return ORDER(*p, *q);
}

/* The median of each kind of exchange; of the others the mean. */
static void find_typical(struct ideal *x, uint32_t n_regions)
{
    const struct syncs *s = x->replay->syncs;
    uint32_t *first = mem_alloc((size_t)n_regions + 1, sizeof *first);
    int64_t *time = mem_alloc(x->n, sizeof *time);

    for (uint32_t r = 0; r < n_regions; r++)
        first[r + 1] = first[r] + x->kind[r].n;
    for (uint32_t i = 0; i < x->n; i++)
        time[first[region_of(s, x->ready[i])]++] = took_ns(s, x->ready[i]);
    for (uint32_t r = 0; r < n_regions; r++) {
        struct ideal_kind *kind = &x->kind[r];
        int64_t *of = time + first[r] - kind->n;

        if (kind->n == 0)
            continue;
        kind->typical_ns = kind->sum_ns / kind->n;
        if (!kind->is_exchange)
            continue;
        qsort(of, kind->n, sizeof *of, by_time);
        kind->typical_ns = (double)(of[(kind->n - 1) / 2] + of[kind->n / 2]) / 2;
    }
    free(first);
    free(time);
}

static bool keep_all(uint32_t location, uint32_t region, void *ctx)
{
    (void)location, (void)region, (void)ctx;
    return true;
}

static bool keep_none(uint32_t location, uint32_t region, void *ctx)
{
    (void)location, (void)region, (void)ctx;
    return false;
}

static double play(struct ideal *x, ideal_keep *keep, void *ctx)
{
    const struct syncs *s = x->replay->syncs;
    struct replay_result result;

    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t ready = x->ready[i], region = region_of(s, ready);

        replay_begin_after(x->replay, ready, 0);
        if (!keep(syncs_location(s, ready), region, ctx))
            replay_set(x->replay, ready, llrint(x->kind[region].typical_ns), took_ns(s, ready));
    }
    replay_whole(x->replay, &result);
    replay_clear(x->replay);
    return (double)(s->end_ns - s->begin_ns) - (double)result.saved_ns;
}

void ideal_init(struct ideal *x, struct replay *replay)
{
    uint32_t n_regions = replay->syncs->view->defs->names.n;

    *x = (struct ideal){.replay = replay};
    x->kind = mem_alloc(n_regions, sizeof *x->kind);
    find_operations(x);
    find_typical(x, n_regions);
    x->run_ns = play(x, keep_all, NULL);
    x->ideal_ns = play(x, keep_none, NULL);
}

void ideal_release(struct ideal *x)
{
    free(x->ready);
    free(x->kind);
    *x = (struct ideal){0};
}

double ideal_slowdown(struct ideal *x, ideal_keep *keep, void *ctx)
{
    return x->n > 0 && x->ideal_ns > 0 ? play(x, keep, ctx) / x->ideal_ns : NAN;
}
