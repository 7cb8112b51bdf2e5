/*
 * One location at a time. A period is the distance of two occurrences; many are tried, as most
 * may be of no recurrence.
 */
#include "analysis/recurrence.h"

#include "base/mem.h"
#include "base/order.h"

#include <stdbool.h>
#include <stdlib.h>

#define TURNS_SHARE 0.75
#define LIKE_COST 2.0
#define FIRST_TRIED 24 /* occurrences, from all over the run, that may be a turn */
#define NEXT_TRIED 16  /* and those after one that may be the next */

/* The occurrences of one location in the order of time, and which are left. */
struct here {
    struct occurrence *x;
    size_t *at;   /* [n] into x */
    size_t *turn; /* [n] scratch: into x, of the recurrence that is tried */
    size_t *best; /* [n] the same of the best one so far */
    double *cost; /* [n] scratch */
    size_t n, n_best;
    uint32_t best_period;
};

static bool is_left(const struct here *h, size_t i)
{
    return h->x[h->at[i]].period == 0;
}

/* Keeps of n turns those that cost about as much as the middle one; returns how many. */
static size_t keep_alike(struct here *h, size_t n)
{
    size_t n_kept = 0;
    double median;

    for (size_t i = 0; i < n; i++)
        h->cost[i] = h->x[h->turn[i]].cost;
    qsort(h->cost, n, sizeof *h->cost, order_f64);
    median = h->cost[n / 2];
    for (size_t i = 0; i < n; i++) {
        double cost = h->x[h->turn[i]].cost;

        if (cost <= LIKE_COST * median && LIKE_COST * cost >= median)
            h->turn[n_kept++] = h->turn[i];
    }
    return n_kept;
}

/* Is what comes in every period-th execution, as the i-th does, better than the best so far? */
static void try_period(struct here *h, size_t i, uint32_t period)
{
    const struct occurrence *one = &h->x[h->at[i]];
    uint32_t phase = one->index % period;
    size_t n = 0, n_room = (one->n_here - 1 - phase) / period + 1;
    size_t *spare;

    for (size_t k = 0; k < h->n; k++)
        if (is_left(h, k) && h->x[h->at[k]].index % period == phase)
            h->turn[n++] = h->at[k];
    n = keep_alike(h, n);
    if (n < RECURRENCE_TURNS || (double)n < TURNS_SHARE * (double)n_room || n <= h->n_best)
        return;
    spare = h->best;
    h->best = h->turn;
    h->turn = spare;
    h->n_best = n;
    h->best_period = period;
}

static void try_all(struct here *h)
{
    size_t step = h->n > FIRST_TRIED ? h->n / FIRST_TRIED : 1;

    h->n_best = 0;
    for (size_t i = 0; i < h->n; i += step)
        for (size_t k = i + 1; is_left(h, i) && k < h->n && k <= i + NEXT_TRIED; k++) {
            uint32_t period = h->x[h->at[k]].index - h->x[h->at[i]].index;

            if (is_left(h, k) && period >= RECURRENCE_MIN_PERIOD)
                try_period(h, i, period);
        }
}

static void take_best(struct here *h)
{
    size_t most = h->best[0];

    for (size_t i = 1; i < h->n_best; i++)
        if (h->x[h->best[i]].cost > h->x[most].cost)
            most = h->best[i];
    for (size_t i = 0; i < h->n_best; i++) {
        h->x[h->best[i]].turn_of = most;
        h->x[h->best[i]].period = h->best_period;
    }
}

struct execution_key {
    uint32_t location, index;
    size_t at;
};

static int by_key(const void *a, const void *b)
{
    const struct execution_key *p = a, *q = b;

    return ORDER(p->location, q->location) ?: ORDER(p->index, q->index);
}

void recurrence_find(struct occurrence *x, size_t n)
{
    struct execution_key *key = mem_alloc(n, sizeof *key);
    size_t *at = mem_alloc(n, sizeof *at);
    struct here h = {.x = x};

    h.turn = mem_alloc(n, sizeof *h.turn);
    h.best = mem_alloc(n, sizeof *h.best);
    h.cost = mem_alloc(n, sizeof *h.cost);
    for (size_t i = 0; i < n; i++) {
        key[i] = (struct execution_key){x[i].location, x[i].index, i};
        x[i].turn_of = i;
        x[i].period = 0;
    }
    qsort(key, n, sizeof *key, by_key);
    for (size_t i = 0; i < n; i++)
        at[i] = key[i].at;
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin; end < n && key[end].location == key[begin].location; end++)
            ;
        h.at = at + begin;
        h.n = end - begin;
        for (try_all(&h); h.n_best > 0; try_all(&h))
            take_best(&h);
    }
    free(key);
    free(at);
    free(h.turn);
    free(h.best);
    free(h.cost);
}
