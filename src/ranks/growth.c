#include "ranks/growth.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "features/robust.h"
#include "ranks/peer_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIFTHS 5
#define MIN_EXECUTIONS 60u /* of a place: twelve in a fifth */
#define MIN_FACTOR 1.2     /* of the last over the first */
#define MIN_STEP                                                                               \
    0.04 /* of the growth, from one fifth to the next; it is a fourth where it is steady */
#define MAX_STEP 0.7  /* ... more is a jump */
#define HALF 0.5      /* of the growth: where own work has less of it, it waits longer */
#define MIN_MORE 0.01 /* of all time of the place: what they took more than at first */

/* The executions of a place in order of time. */
struct series {
    uint32_t *tree; /* [n] */
    double *ns;     /* [n] of each */
    double *some;   /* [n] scratch */
    uint32_t n;
};

static int by_enter(const void *a, const void *b, void *ctx)
{
    const struct forest *forest = ctx;
    uint32_t s = *(const uint32_t *)a, t = *(const uint32_t *)b;

    return ORDER(forest->enter_ns[s], forest->enter_ns[t]);
}

static uint32_t fifth_begin(uint32_t n, uint32_t k)
{
    return (uint32_t)((uint64_t)n * k / FIFTHS);
}

static double quantile_in(const struct series *s, uint32_t k, double q)
{
    uint32_t begin = fifth_begin(s->n, k), n = fifth_begin(s->n, k + 1) - begin;

    for (uint32_t i = 0; i < n; i++)
        s->some[i] = s->ns[begin + i];
    return robust_quantile(s->some, n, q);
}

/* Whether they do, and the medians of the first and the last fifth. */
static bool grows(const struct series *s, double *first_ns, double *last_ns)
{
    double median[FIFTHS], all_ns = 0, more_ns = 0, growth;

    for (uint32_t k = 0; k < FIFTHS; k++)
        median[k] = quantile_in(s, k, 0.5);
    *first_ns = median[0];
    *last_ns = median[FIFTHS - 1];
    growth = *last_ns - *first_ns;
    if (*last_ns < MIN_FACTOR * *first_ns)
        return false;
    for (uint32_t k = 1; k < FIFTHS; k++)
        if (median[k] - median[k - 1] < MIN_STEP * growth ||
            median[k] - median[k - 1] > MAX_STEP * growth)
            return false;
    for (uint32_t i = 0; i < s->n; i++)
        all_ns += s->ns[i];
    for (uint32_t k = 1; k < FIFTHS; k++)
        more_ns += (median[k] - median[0]) * (fifth_begin(s->n, k + 1) - fifth_begin(s->n, k));
    return more_ns >= MIN_MORE * all_ns &&
           quantile_in(s, FIFTHS - 1, 0.25) > quantile_in(s, 0, 0.75);
}

/* The path on which an execution takes more in the last fifth than in the first, on average, by most. */
static void find_path(const struct scoring *w, const struct peers *peers,
                      const struct series *s, struct longer *out)
{
    uint32_t n_paths = w->model.paths.n;
    double *more_ns = mem_alloc(n_paths, sizeof *more_ns);

    out->path = PATH_NONE;
    out->path_ns = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool is_first = i < fifth_begin(s->n, 1), is_last = i >= fifth_begin(s->n, FIFTHS - 1);
        uint32_t t = s->tree[i];

        for (uint32_t v = w->forest.first[t];
             (is_first || is_last) && v < w->forest.first[t + 1]; v++) {
            uint32_t path = residual_path(&w->place, &w->forest, t, v);

            if (path != PATH_NONE && peers->is_waiting[path] == out->is_waiting)
                more_ns[path] +=
                    is_last ? peer_call_ns(w, peers, v) : -peer_call_ns(w, peers, v);
        }
    }
    for (uint32_t p = 0; p < n_paths; p++)
        if (more_ns[p] > out->path_ns) {
            out->path = p;
            out->path_ns = more_ns[p];
        }
    out->path_ns /= fifth_begin(s->n, 1);
    free(more_ns);
}

/* One more that grows: what is said is said of that which grows most. Own work goes before waiting for it. */
static void add_place(const struct scoring *w, const struct peers *peers, uint32_t place,
                      const struct series *s, const struct longer *now, struct longer *best)
{
    bool is_better = best->n_places == 0 || (best->is_waiting && !now->is_waiting);
    uint32_t n_places = is_better ? 1 : best->n_places + 1;

    if (!is_better && now->is_waiting && !best->is_waiting)
        return;
    if (is_better || now->last_ns - now->first_ns > best->last_ns - best->first_ns) {
        uint32_t n_looked = best->n_looked;

        *best = *now;
        best->n_looked = n_looked;
        best->place = place;
        find_path(w, peers, s, best);
    }
    best->n_places = n_places;
}

static void look_at(const struct scoring *w, const struct peers *peers, uint32_t place,
                    struct series *s, struct longer *out)
{
    struct longer now = {.path = PATH_NONE};
    double first_ns, last_ns; /* of own work */

    s->n = 0;
    for (uint32_t i = peers->first_tree[place]; i < peers->first_tree[place + 1]; i++)
        s->tree[s->n++] = peers->tree[i];
    if (s->n < MIN_EXECUTIONS)
        return;
    out->n_looked++;
    qsort_r(s->tree, s->n, sizeof *s->tree, by_enter, (void *)(uintptr_t)&w->forest);
    for (uint32_t i = 0; i < s->n; i++)
        s->ns[i] = (double)w->forest.root_ns[s->tree[i]];
    if (!grows(s, &now.first_ns, &now.last_ns))
        return;
    for (uint32_t i = 0; i < s->n; i++)
        s->ns[i] = peer_own_ns(w, peers, s->tree[i]);
    first_ns = quantile_in(s, 0, 0.5);
    last_ns = quantile_in(s, FIFTHS - 1, 0.5);
    now.is_waiting = last_ns - first_ns < HALF * (now.last_ns - now.first_ns);
    if (!now.is_waiting) {
        now.first_ns = first_ns;
        now.last_ns = last_ns;
    }
    add_place(w, peers, place, s, &now, out);
}

void growth_find(const struct scoring *scoring, const struct peers *peers, struct longer *out)
{
    uint32_t n = 0;
    struct series s;

    *out = (struct longer){.path = PATH_NONE};
    for (uint32_t p = 0; p < peers->n; p++)
        if (peers->first_tree[p + 1] - peers->first_tree[p] > n)
            n = peers->first_tree[p + 1] - peers->first_tree[p];
    s = (struct series){.tree = mem_alloc(n, sizeof *s.tree),
                        .ns = mem_alloc(n, sizeof *s.ns),
                        .some = mem_alloc(n, sizeof *s.some)};
    for (uint32_t p = 0; p < peers->n; p++)
        look_at(scoring, peers, p, &s, out);
    free(s.tree);
    free(s.ns);
    free(s.some);
}

/* "", " on rank 3", " on 3 of 8 ranks" */
static void say_where(const struct longer *g, const struct peers *peers, FILE *out)
{
    char place[PEER_NAME_SIZE];

    if (g->n_looked == 1)
        return;
    peer_place_name(peers, g->place, place);
    if (g->n_places == 1)
        fprintf(out, " on %s", place);
    else if (g->n_places == g->n_looked)
        fprintf(out, " on all %u %ss", g->n_looked, peer_by_name(peers->opts.by));
    else
        fprintf(out, " on %u of %u %ss, most on %s", g->n_places, g->n_looked,
                peer_by_name(peers->opts.by), place);
}

char *growth_text(const struct longer *g, const struct peers *peers, const struct why *why,
                  const char *name)
{
    char first[TEXT_SIZE], last[TEXT_SIZE], more[TEXT_SIZE], path[WHY_NAME_SIZE], *text = NULL;
    size_t size;
    FILE *out;

    if (g->n_places == 0)
        return NULL;
    out = open_memstream(&text, &size);
    if (out == NULL)
        mem_give_up(1, BUFSIZ);
    fprintf(out, "%s takes longer and longer", name);
    say_where(g, peers, out);
    fprintf(out, ": %s%s in the first fifth of its executions, %s in the last",
            g->is_waiting ? "" : "own work of ", text_duration(g->first_ns, first),
            text_duration(g->last_ns, last));
    if (g->path != PATH_NONE)
        fprintf(out, "; %s%s +%s", g->is_waiting ? "it waits longer: " : "",
                why_path_name(why, g->path, path), text_duration(g->path_ns, more));
    fclose(out);
    return text;
}
