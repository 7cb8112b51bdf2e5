#include "score/own_lost.h"

#include "base/pool.h"
#include "detect/residual_score.h"
#include "explain/waiting.h"

#include <math.h>

static double waited_of_tree(const struct scoring *s, uint32_t t)
{
    const struct forest *forest = &s->forest;
    double sum = 0;

    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
        uint64_t waited_ns;
        double excess;

        if (!waiting_is_likely(&s->defs->region[forest->region[v]]))
            continue;
        excess = (double)forest->exclusive_ns[v] -
                 residual_common(&s->model, &s->place, forest, t, v);
        if (excess <= RESIDUAL_MATERIAL * s->model.root_ns)
            continue;
        waiting_others_ns(&s->view, forest->location[t], forest_row(forest, t, v), &waited_ns);
        sum += fmin(excess, (double)waited_ns);
    }
    return sum;
}

static void find(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct scoring *s = ctx;

    (void)worker;
    for (size_t t = begin; t < end; t++) {
        struct residual_measure *m = &s->measure[t];

        m->own = m->gross;
        if (m->gross >= RESIDUAL_LEAST_LOST)
            m->own = fmax(m->gross - waited_of_tree(s, (uint32_t)t) / s->model.root_ns, 0);
    }
}

void own_lost_find(struct scoring *s)
{
    uint32_t n = s->forest.n_trees;

    pool_for(s->pool, n, pool_grain(s->pool, n), find, s);
    trace_view_passed(&s->view);
}
