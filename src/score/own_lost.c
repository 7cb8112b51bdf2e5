#include "score/own_lost.h"

#include "base/mem.h"
#include "base/pool.h"
#include "detect/residual_score.h"
#include "explain/waiting.h"

#include <math.h>
#include <stdlib.h>

#define FILL_OWN 0.1 /* of what the first execution of a location lost: with less it waited */

struct finding {
    struct scoring *s;
    struct own_waits waits;
    bool *may_wait; /* [regions] */
};

/* After the run all is known. */
static bool waited_in_view(void *ctx, uint32_t t, uint32_t v, uint64_t *ns)
{
    const struct scoring *s = ctx;
    const struct forest *f = &s->forest;

    if (s->view.n_locations == 0)
        return false;
    waiting_others_ns(&s->view, f->location[t], forest_row(f, t, v), ns);
    return true;
}

/* In ns; NAN: it has calls that may have waited, and nobody knows for whom. */
static double waited_of_tree(const struct finding *f, uint32_t t)
{
    const struct scoring *s = f->s;
    const struct forest *forest = &s->forest;
    double sum = 0;

    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
        uint64_t waited_ns;
        double excess;

        if (!f->may_wait[forest->region[v]])
            continue;
        excess = (double)forest->exclusive_ns[v] -
                 residual_common(&s->model, &s->place, forest, t, v);
        if (excess <= RESIDUAL_MATERIAL * s->model.root_ns)
            continue;
        if (!f->waits.waited(f->waits.ctx, t, v, &waited_ns))
            return NAN;
        sum += fmin(excess, (double)waited_ns);
    }
    return sum;
}

/*
 * The first executions of a pipeline wait until it is filled: each for one that waited itself,
 * and all of them no longer than it takes from the start. Who held them up, if anybody did,
 * lost that time by itself.
 */
static void forget_fill(struct residual_measure *m)
{
    m->time = m->sure = m->sure_off = m->gross_off = 0;
    m->gross = m->own;
    m->is_fill = true;
    m->loss.z = fmin(m->loss.z, 0);
}

static void find(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct finding *f = ctx;
    const struct scoring *s = f->s;

    (void)worker;
    for (size_t t = begin; t < end; t++) {
        struct residual_measure *m = &s->measure[t];

        m->own = m->gross;
        if (m->gross >= RESIDUAL_MIN_LOST)
            m->own -= waited_of_tree(f, (uint32_t)t) / s->model.root_ns;
        if (m->own < 0)
            m->own = 0;
        if (s->forest.index[t] == 0 && m->gross >= RESIDUAL_MIN_LOST &&
            m->own < fmax(RESIDUAL_MIN_LOST, FILL_OWN * m->gross))
            forget_fill(m);
    }
}

void own_lost_find(struct scoring *s)
{
    uint32_t n = s->forest.n_trees, n_regions = s->defs->names.n;
    struct finding f = {s, s->waits, mem_alloc(n_regions, sizeof *f.may_wait)};

    if (f.waits.waited == NULL)
        f.waits = (struct own_waits){waited_in_view, s};
    for (uint32_t r = 0; r < n_regions; r++)
        f.may_wait[r] = waiting_is_likely(&s->defs->region[r]);
    pool_for(s->pool, n, pool_grain(s->pool, n), find, &f);
    free(f.may_wait);
    if (s->view.n_locations > 0)
        trace_view_passed(&s->view);
}
