/* Cuts as long as what an operation took beyond the ideal; shorter ones are made longer. */
#include "replay/ideal.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

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

    return (*p > *q) - (*p < *q);
}

/* The median of each kind of exchange; of the others the mean. */
static void find_usual(struct ideal *x, uint32_t n_regions)
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
        kind->usual_ns = kind->sum_ns / kind->n;
        if (!kind->is_exchange)
            continue;
        qsort(of, kind->n, sizeof *of, by_time);
        kind->usual_ns = (double)(of[(kind->n - 1) / 2] + of[kind->n / 2]) / 2;
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
            replay_set(x->replay, ready, llrint(x->kind[region].usual_ns), took_ns(s, ready));
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
    find_usual(x, n_regions);
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
