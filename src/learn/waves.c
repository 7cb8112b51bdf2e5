/* Trees are taken by index, and within one by location, as they lie in the forest. */
#include "learn/waves.h"

#include "base/mem.h"
#include "detect/tails.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MIN_EVIDENCE 3.0 /* nats: chance makes one iteration in twenty as unlikely */

void waves_release(struct waves *waves)
{
    free(waves->of);
    free(waves->evidence);
    *waves = (struct waves){0};
}

/* Trees in the order of their index; those of index i begin at first[i]. */
static uint32_t *by_index(const struct forest *f, uint32_t **first, uint32_t *n_indices)
{
    uint32_t *tree = mem_alloc(f->n_trees, sizeof *tree), *at;

    *n_indices = 0;
    for (uint32_t t = 0; t < f->n_trees; t++)
        if (f->index[t] >= *n_indices)
            *n_indices = f->index[t] + 1;
    *first = mem_alloc((size_t)*n_indices + 1, sizeof **first);
    at = mem_alloc((size_t)*n_indices + 1, sizeof *at);
    for (uint32_t t = 0; t < f->n_trees; t++)
        (*first)[f->index[t] + 1]++;
    for (uint32_t i = 0; i < *n_indices; i++)
        at[i + 1] = (*first)[i + 1] += (*first)[i];
    for (uint32_t t = 0; t < f->n_trees; t++)
        tree[at[f->index[t]]++] = t;
    free(at);
    return tree;
}

static bool is_together(const struct forest *f, uint32_t t, uint32_t head)
{
    uint64_t slack = f->root_ns[head];

    return f->enter_ns[t] <= f->enter_ns[head] + f->root_ns[head] + slack &&
           f->enter_ns[t] + f->root_ns[t] + slack >= f->enter_ns[head];
}

/* One iteration: n trees, and how unlikely each is. */
static void find_wave(struct waves *w, const struct forest *f, const double *own,
                      const uint32_t *tree, uint32_t n)
{
    uint32_t head = tree[0], n_together = 0;
    double sum = 0, evidence;

    for (uint32_t i = 1; i < n; i++)
        if (own[tree[i]] > own[head])
            head = tree[i];
    for (uint32_t i = 0; i < n; i++)
        if (is_together(f, tree[i], head)) {
            sum += own[tree[i]];
            n_together++;
        }
    evidence = n_together > 1 ? tail_together(n_together, sum) : 0;
    if (evidence < MIN_EVIDENCE)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (is_together(f, tree[i], head))
            w->of[tree[i]] = w->n;
    w->evidence[w->n++] = evidence;
}

void waves_find(struct waves *w, const struct forest *f, const struct residual_measure *measure)
{
    double *own = mem_alloc(f->n_trees, sizeof *own);
    uint32_t *first, n_indices, *tree = by_index(f, &first, &n_indices);

    *w = (struct waves){.of = mem_alloc(f->n_trees, sizeof *w->of),
                        .evidence = mem_alloc(n_indices, sizeof *w->evidence)};
    for (uint32_t t = 0; t < f->n_trees; t++) {
        w->of[t] = WAVE_NONE;
        own[t] = measure[t].time;
    }
    tail_ranks(own, f->n_trees, own);
    for (uint32_t i = 0; i < n_indices; i++)
        if (first[i + 1] - first[i] > 1)
            find_wave(w, f, own, tree + first[i], first[i + 1] - first[i]);
    free(own);
    free(first);
    free(tree);
}
