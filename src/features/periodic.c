/*
 * Which numbers are in which kind of tree is found once for all trees of the kind. Executions
 * come by location and time, so what is known of a path so far is all there is.
 */
#include "features/periodic.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------ kinds */

/* A stamp per number says whether the kind that is looked at has it already. */

void kind_sets_find(struct kind_sets *s, const struct tree_kinds *kinds, const uint32_t *column,
                    uint32_t n_numbers)
{
    uint32_t *last_kind = mem_alloc(n_numbers, sizeof *last_kind); /* + 1 */
    size_t *at = mem_resize(NULL, n_numbers, sizeof *at), n = 0;

    *s = (struct kind_sets){.first = mem_resize(NULL, (size_t)kinds->n + 1, sizeof *s->first)};
    for (uint32_t k = 0; k < kinds->n; k++) {
        s->first[k] = n;
        for (uint32_t i = kinds->at[k]; i < kinds->at[k + 1]; i++) {
            uint32_t number = column[i];

            if (last_kind[number] != k + 1) {
                mem_grow(&s->number, &s->cap_number, n + 1);
                mem_grow(&s->count, &s->cap_count, n + 1);
                last_kind[number] = k + 1;
                at[number] = n;
                s->number[n] = number;
                s->count[n++] = 0;
            }
            s->count[at[number]]++;
        }
    }
    s->first[kinds->n] = n;
    free(last_kind);
    free(at);
}

void kind_sets_release(struct kind_sets *s)
{
    free(s->first);
    free(s->number);
    free(s->count);
    *s = (struct kind_sets){0};
}

/* --------------------------------------------------------------------------------- periodic */

/* Of a path, on the location that it was seen on last. */
struct turns {
    uint32_t last; /* tree */
    uint32_t n;    /* 0: not seen yet */
    uint32_t period;
    bool is_off;
};

/* The trees of one location. */
struct tree_range {
    uint32_t first, end;
};

static void take_turn(struct turns *x, const struct tree_range *range, uint32_t t)
{
    bool is_new_here = x->n == 0 || x->last < range->first;
    uint32_t distance = t - x->last;

    if (x->is_off)
        return;
    if (is_new_here) {
        x->n = 1;
    } else if (x->n++ == 1) {
        x->period = distance;
        x->is_off = distance < PERIODIC_MIN_DISTANCE ||
                    x->last - range->first > distance; /* one was left out before */
    } else {
        x->is_off = distance != x->period;
    }
    x->last = t;
}

/* Seen on any process; not periodic on any. */
enum { IS_SEEN = 1, IS_OFF = 2 };

static void join(void *into, const void *from, size_t n)
{
    uint8_t *to = into;
    const uint8_t *more = from;

    for (size_t i = 0; i < n; i++)
        to[i] |= more[i];
}

uint8_t *periodic_numbers(uint32_t n, const struct forest *forest,
                          const struct tree_kinds *kinds, const struct kind_sets *sets,
                          const struct tree_share *share)
{
    struct turns *turns = mem_alloc(n, sizeof *turns);
    uint8_t *is_on = mem_alloc(n, sizeof *is_on);
    struct tree_range range = {0, 0};

    while (range.end < forest->n_trees) {
        range.first = range.end;
        while (range.end < forest->n_trees &&
               forest->location[range.end] == forest->location[range.first])
            range.end++;
        for (uint32_t t = range.first; t < range.end; t++)
            for (size_t i = sets->first[kinds->of[t]]; i < sets->first[kinds->of[t] + 1]; i++)
                take_turn(&turns[sets->number[i]], &range, t);
        /* the location is over: was it taken often enough, and to the end? */
        for (struct turns *x = turns; x < turns + n; x++)
            if (x->n > 0 && x->last >= range.first && !x->is_off)
                x->is_off = x->n < PERIODIC_MIN_TURNS || range.end - x->last > x->period;
    }
    for (uint32_t i = 0; i < n; i++)
        is_on[i] = (turns[i].n > 0 ? IS_SEEN : 0) | (turns[i].is_off ? IS_OFF : 0);
    tree_share_add(share, is_on, n, sizeof *is_on, join);
    for (uint32_t i = 0; i < n; i++)
        is_on[i] = is_on[i] == IS_SEEN;
    free(turns);
    return is_on;
}

uint8_t *periodic_paths(const struct context *context, const struct forest *forest,
                        const struct tree_kinds *kinds, const struct kind_sets *paths,
                        const struct tree_share *share)
{
    uint8_t *is_on = periodic_numbers(context->n, forest, kinds, paths, share);

    for (uint32_t p = 0; p < context->n; p++)
        is_on[p] |= context->parent[p] != PATH_NONE && is_on[context->parent[p]];
    return is_on;
}

uint8_t *periodic_executions(const uint8_t *apart, const struct forest *forest,
                             const struct tree_kinds *kinds, const uint32_t *path, uint32_t *n)
{
    uint8_t *is_turn, *has_any = mem_alloc(kinds->n, sizeof *has_any);

    for (uint32_t k = 0; k < kinds->n; k++)
        for (uint32_t i = kinds->at[k]; i < kinds->at[k + 1]; i++)
            has_any[k] |= path_is_periodic(apart, path[i]);
    *n = 0;
    for (uint32_t t = 0; t < forest->n_trees; t++)
        if (forest->index[t] >= *n)
            *n = forest->index[t] + 1;
    is_turn = mem_alloc(*n, sizeof *is_turn);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        is_turn[forest->index[t]] |= has_any[kinds->of[t]];
    free(has_any);
    return is_turn;
}
