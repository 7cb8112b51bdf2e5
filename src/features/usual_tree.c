/*
 * A program does the same again and again: what is usual of the calls of one execution is so of
 * the next one on that location, call by call. Looking it up takes several times as long as
 * using it, so it is kept for the few kinds of trees that a location makes at a time.
 */
#include "base/mem.h"
#include "features/residual_view.h"

#include <stdlib.h>

#define KEPT_BITS 8 /* of the number of kept trees */
#define N_KEPT (1u << KEPT_BITS)
#define MOST_CALLS 1024u /* of a tree that is kept: 8 MiB for all of them */

struct kept {
    uint32_t like, row; /* whose it is: kind and location */
    bool is_first, is_seen, is_known;
    uint32_t n_pairs;
    struct usual_call *call; /* [vertices] */
    uint32_t *path;          /* [n_pairs] */
    size_t call_cap, path_cap;
};

struct usual_kept {
    struct kept kept[N_KEPT];
};

void usual_kept_free(struct usual_kept *k)
{
    for (uint32_t i = 0; k && i < N_KEPT; i++) {
        free(k->kept[i].call);
        free(k->kept[i].path);
    }
    free(k);
}

static void begin_pairs(struct residual_pairs *g, const struct kept *kept)
{
    for (uint32_t i = 0; i < kept->n_pairs; i++)
        pair_of(g, kept->path[i]);
}

static void learn(struct kept *kept, struct residual_pairs *g, const struct view *view,
                  uint32_t t)
{
    uint32_t first = view->forest->first[t], n = view->forest->first[t + 1] - first;

    mem_grow(&kept->call, &kept->call_cap, n, sizeof *kept->call);
    for (uint32_t i = 0; i < n; i++)
        kept->call[i] = usual_call(g, view, t, first + i);
    mem_grow(&kept->path, &kept->path_cap, g->n, sizeof *kept->path);
    for (size_t i = 0; i < g->n; i++)
        kept->path[i] = g->pair[i].path;
    kept->n_pairs = (uint32_t)g->n;
    kept->is_known = true;
}

const struct usual_call *usual_tree(struct residual_pairs *g, const struct view *view,
                                    uint32_t t)
{
    const struct residual_place *place = view->place;
    uint32_t row = place->row ? place->row[t] : LOCAL_NONE, like = place->like[t];
    bool is_first = view->forest->index[t] == 0, is_same;
    struct kept *kept;

    if (view->forest->first[t + 1] - view->forest->first[t] > MOST_CALLS)
        return NULL;
    if (g->kept == NULL)
        g->kept = mem_alloc(1, sizeof *g->kept);
    kept = &g->kept->kept[(like * 0x9e3779b1u + row) >> (32 - KEPT_BITS)];
    is_same =
        kept->is_seen && kept->like == like && kept->row == row && kept->is_first == is_first;
    if (is_same && kept->is_known) {
        begin_pairs(g, kept);
        return kept->call;
    }
    kept->like = like;
    kept->row = row;
    kept->is_first = is_first;
    kept->is_seen = true;
    kept->is_known = false;
    if (!is_same) /* it may never come again */
        return NULL;
    learn(kept, g, view, t);
    return kept->call;
}
