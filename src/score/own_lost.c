/*
 * What executions lost by themselves is what they lost without waiting for others:
 *
 *     rank 0   [step ........ compute ........ ]      lost 40 ms, all of it its own
 *     rank 1      [step ..... MPI_Recv ........ ]     lost 40 ms, of which it waited 38 ms
 *
 * What they lost while they waited for somebody whom the tracer held up nobody has lost: without
 * the tracer it would not be there (recording_of_tree).
 */
#include "score/own_lost.h"

#include "base/mem.h"
#include "base/pool.h"
#include "explain/cause.h"
#include "explain/waiting.h"

#include <math.h>
#include <stdlib.h>

#define FILL_OWN 0.1 /* of what the first execution of a location lost: with less it waited */
#define RECORDING_LEFT 0.1 /* of what it lost: with less, that was for the tracer */

struct own_wait_finder {
    struct scoring *s;
    struct own_waits waits;
    bool *may_wait;      /* [regions] */
    bool is_for_tracers; /* waits for what the tracer did elsewhere are to be looked for */
};

/* After the run all is known. */
static bool waited_in_view(void *ctx, uint32_t t, uint32_t v, double typical_ns, uint64_t *ns)
{
    const struct scoring *s = ctx;
    const struct forest *f = &s->forest;

    if (s->view.n_locations == 0)
        return false;
    waiting_others_ns(&s->view, f->location[t], forest_row(f, t, v), typical_ns, ns);
    return true;
}

/* By how much call v took more than typical, in ns; 0 where it can be no wait, or that is too little to be looked at. */
static double excess_of_wait(const struct own_wait_finder *f, uint32_t t, uint32_t v)
{
    const struct scoring *s = f->s;
    double excess;

    if (!f->may_wait[s->forest.region[v]])
        return 0;
    excess = (double)s->forest.exclusive_ns[v] -
             residual_common(&s->model, &s->place, &s->forest, t, v);
    return excess <= RESIDUAL_MATERIAL * s->model.root_ns ? 0 : excess;
}

/* In ns; NAN: it has calls that may have waited, and nobody knows for whom. */
static double waited_of_tree(const struct own_wait_finder *f, uint32_t t)
{
    const uint32_t *first = f->s->forest.first;
    double sum = 0;

    for (uint32_t v = first[t]; v < first[t + 1]; v++) {
        double excess = excess_of_wait(f, t, v);
        uint64_t waited_ns;

        if (excess == 0)
            continue;
        if (!f->waits.waited(f->waits.ctx, t, v, (double)f->s->forest.exclusive_ns[v] - excess,
                             &waited_ns))
            return NAN;
        sum += fmin(excess, (double)waited_ns);
    }
    return sum;
}

/* Of what calls took more than typical, while the tracer held up who was waited for, or who
 * that one waited for; in ns. */
static double recording_of_tree(const struct own_wait_finder *f, uint32_t t,
                                struct stretch *stretch)
{
    const struct scoring *s = f->s;
    const struct forest *forest = &s->forest;
    const struct call_view *calls = trace_view_calls(&s->view, forest->location[t]);
    double sum = 0;

    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
        double excess = excess_of_wait(f, t, v);
        struct cause cause;

        if (excess == 0 || forest_row(forest, t, v) >= calls->n)
            continue;
        cause_of(&s->view, forest->location[t], forest_row(forest, t, v), excess, stretch,
                 &cause);
        if (cause.end == CAUSE_TRACER)
            sum += fmin(excess, (double)cause.link[cause.n - 1].explained_ns);
    }
    return sum;
}

/* Where hardly anything is left without it, nothing of the execution is strange by time. Where
 * more is, nobody knows how strange that is, so all of it counts. */
static void take_recording_out(struct residual_measure *m, double recording)
{
    double left = fmax(m->gross - recording, 0);

    if (recording <= 0 || left >= fmax(RESIDUAL_MIN_LOST, RECORDING_LEFT * m->gross))
        return;
    m->time = m->sure = m->sure_off = m->gross_off = 0;
    m->gross = left;
    m->own = fmin(m->own, left); /* NAN goes */
    m->tracer += recording;
    m->is_recording = true;
}

/*
 * Who came late itself waited less than typical for the others: nothing was left out that would
 * be worth a look. So brief and saved are of its own work.
 */
static void take_waits_out_of_saved(const struct own_wait_finder *f, uint32_t t,
                                    struct residual_measure *m)
{
    const struct scoring *s = f->s;
    double waited_less = 0, worked_less = 0, typical = (double)m->loss.typical_ns;
    double took = typical + (double)m->loss.more_ns, own;

    for (uint32_t v = s->forest.first[t]; v < s->forest.first[t + 1]; v++)
        *(f->may_wait[s->forest.region[v]] ? &waited_less : &worked_less) +=
            residual_common(&s->model, &s->place, &s->forest, t, v) -
            (double)s->forest.exclusive_ns[v];
    if (took <= 0)
        return;
    /* waits are skewed: less than all of them together typically are may be no less call by call */
    own = fmin(fmax(took + fmax(waited_less, 0), typical - fmax(worked_less, 0)), typical);
    m->brief = residual_round(m->brief * log(typical / own) / log(typical / took));
    m->saved = residual_round((typical - own) / s->model.root_ns);
}

static void find(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct own_wait_finder *f = ctx;
    const struct scoring *s = f->s;
    struct stretch stretch = {0};

    (void)worker;
    for (size_t t = begin; t < end; t++) {
        struct residual_measure *m = &s->measure[t];

        m->own = m->gross;
        if (m->brief >= RESIDUAL_MIN_LOSS_Z)
            take_waits_out_of_saved(f, (uint32_t)t, m);
        if (m->gross >= RESIDUAL_MIN_LOST)
            m->own -= waited_of_tree(f, (uint32_t)t) / s->model.root_ns;
        if (m->own < 0)
            m->own = 0;
        if (s->forest.index[t] == 0 && m->gross >= RESIDUAL_MIN_LOST &&
            m->own < fmax(RESIDUAL_MIN_LOST, FILL_OWN * m->gross)) {
            /* The first executions of a pipeline wait until it is filled: each for one that
             * waited itself, and all of them no longer than it takes from the start. Who held
             * them up, if anybody did, lost that time by itself. */
            m->time = m->sure = m->sure_off = m->gross_off = 0;
            m->gross = m->own;
            m->is_fill = true;
            m->loss.z = fmin(m->loss.z, 0);
        } else if (f->is_for_tracers && m->gross >= RESIDUAL_MIN_LOST) {
            take_recording_out(m,
                               recording_of_tree(f, (uint32_t)t, &stretch) / s->model.root_ns);
        }
    }
    stretch_release(&stretch);
}

/* The tracer has calls of its own in this trace. */
static bool has_tracer(const struct scoring *s)
{
    for (uint32_t r = 0; r < s->defs->names.n; r++)
        if (s->defs->region[r].kind == REGION_TRACER)
            return true;
    return false;
}

void own_lost_find(struct scoring *s)
{
    uint32_t n = s->forest.n_trees, n_regions = s->defs->names.n;
    struct own_wait_finder f = {s, s->waits, mem_alloc(n_regions, sizeof *f.may_wait), false};

    if (f.waits.waited == NULL)
        f.waits = (struct own_waits){waited_in_view, s};
    for (uint32_t r = 0; r < n_regions; r++)
        f.may_wait[r] = waiting_is_likely(&s->defs->region[r]);
    f.is_for_tracers = s->view.n_locations > 0 && has_tracer(s);
    pool_for(s->pool, n, pool_grain(s->pool, n), find, &f);
    free(f.may_wait);
    if (s->view.n_locations > 0)
        trace_view_passed(&s->view);
}
