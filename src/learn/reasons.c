/*
 * Columns, with P paths and one for all that the model does not know:
 *
 *     kind: time in path | gross in path | shape of path | more calls, fewer    3 (P + 1) + 2
 *     function at the end of the path, as the first path that ends in it        P + 1
 *     shape, one for all that are new                                           shapes + 1
 *     part | first execution | size of each part | all                          2 N_PARTS + 2
 *     wave
 */
#include "learn/reasons.h"

#include "base/mem.h"
#include "detect/tails.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_EVIDENCE 3.0 /* nats: chance makes one iteration in twenty as unlikely */
#define KIND 1.0
#define FUNCTION 0.3
#define SHAPE 1.0
#define PART 0.3
#define FIRST 0.5
#define NAT 0.2 /* for each nat of a part */
#define MAX_NATS 8.0
#define ALL 0.3
#define WAVE 5.0
#define SURE_WAVE 6.0 /* nats of evidence from which on a wave is one beyond doubt */

/* ------------------------------------------------------------------------------------ waves */

/* Trees are taken by index, and within one by location, as they lie in the forest. */

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

/* ------------------------------------------------------------------------------------ words */

/* Standard deviations of weights, in logits; chosen on generated forests (accuracy.md). */

enum family { IN_TIME, IN_GROSS, IN_SHAPE, N_FAMILIES };

/* Where each block of columns begins. */
struct column_layout {
    uint32_t n_paths, more, function, shape, part, first, nats, tracer, all, end;
};

static struct column_layout layout_of(const struct residual_model *model)
{
    struct column_layout l = {.n_paths = model->paths.n};

    l.more = N_FAMILIES * (l.n_paths + 1);
    l.function = l.more + 2;
    l.shape = l.function + l.n_paths + 1;
    l.part = l.shape + shapes_count(&model->shapes) + 1;
    l.first = l.part + N_PARTS;
    l.nats = l.first + 1;
    l.tracer = l.nats + N_PARTS;
    l.all = l.tracer + 1;
    l.end = l.all + 1;
    return l;
}

uint32_t reasons_columns(const struct residual_model *model)
{
    return layout_of(model).end;
}

uint32_t reasons_wave(const struct reasons *reasons, uint32_t i, double *strength)
{
    const struct rows *rows = &reasons->rows;
    size_t last = rows->first[i + 1];

    *strength = 0;
    if (last == rows->first[i] || rows->col[last - 1] < reasons->n_lasting)
        return REASONS_NO_WAVE;
    *strength = rows->value[last - 1] / WAVE; /* it is added last */
    return rows->col[last - 1] - reasons->n_lasting;
}

uint32_t reasons_kind(const struct reasons *reasons, uint32_t i)
{
    return reasons->rows.col[reasons->rows.first[i]];
}

void reasons_release(struct reasons *reasons)
{
    rows_release(&reasons->rows);
    *reasons = (struct reasons){0};
}

/* ---------------------------------------------------------------------------------- rows */

struct writer {
    const struct reasons_input *in;
    struct column_layout layout;
    struct residual_pairs pairs;
    uint32_t *end; /* [n_paths] the first path that ends in the same function */
    struct rows *rows;
};

static void writer_init(struct writer *w, const struct reasons_input *in, struct rows *rows)
{
    const struct context *paths = &in->model->paths;
    struct idmap region = {0};
    uint32_t *first = mem_alloc(paths->n, sizeof *first);

    *w = (struct writer){.in = in,
                         .layout = layout_of(in->model),
                         .end = mem_alloc(paths->n, sizeof *w->end),
                         .rows = rows};
    residual_pairs_init(&w->pairs, in->model);
    for (uint32_t p = 0; p < paths->n; p++) {
        uint32_t n_before = region.n, r = idmap_add(&region, key_pair(paths->region[p], 0));

        if (region.n > n_before)
            first[r] = p;
        w->end[p] = first[r];
    }
    idmap_release(&region);
    free(first);
}

static uint32_t or_unknown(uint32_t number, uint32_t n)
{
    return number < n ? number : n;
}

/* The path that lost most: for certain, or in all; or that was shorter by most. */
static uint32_t worst_path(const struct residual_pairs *pairs, enum score_part part)
{
    uint32_t path = PATH_NONE;
    double most = -INFINITY;

    for (size_t i = 0; i < pairs->n; i++) {
        const struct residual_pair *pair = &pairs->pair[i];
        double lost = part == PART_TIME    ? pair->sure_ns
                      : part == PART_SHORT ? -pair->excess_ns
                                           : pair->excess_ns;

        if (lost > most) {
            most = lost;
            path = pairs->pair[i].path;
        }
    }
    return path;
}

/* Kind, function, shape: what the part points at. */
static void add_kind(struct writer *w, uint32_t t, enum score_part part)
{
    const struct column_layout *l = &w->layout;
    const struct residual_place *place = w->in->place;
    uint32_t rarest = w->in->measure[t].rarest, path, family;

    if (part == PART_SIZE) {
        double most = 0;

        for (size_t i = 0; i < w->pairs.n; i++)
            most = fmax(most, w->pairs.pair[i].excess_ns);
        rows_add(w->rows, l->more + (most <= 0), KIND);
        return;
    }
    family = part == PART_TIME ? IN_TIME : part == PART_STRUCTURE ? IN_SHAPE : IN_GROSS;
    path = family == IN_SHAPE ? residual_path(place, w->in->forest, t, rarest)
                              : worst_path(&w->pairs, part);
    path = or_unknown(path, l->n_paths);
    rows_add(w->rows, family * (l->n_paths + 1) + path, KIND);
    rows_add(w->rows, l->function + (path < l->n_paths ? w->end[path] : path), FUNCTION);
    if (family == IN_SHAPE)
        rows_add(w->rows,
                 l->shape +
                     or_unknown(place->shape[residual_like(place, w->in->forest, t, rarest)],
                                shapes_count(&w->in->model->shapes)),
                 SHAPE);
}

static void add_tree(struct writer *w, uint32_t t)
{
    const struct residual_scores *scores = w->in->scores;
    const struct column_layout *l = &w->layout;

    residual_pairs_of(&w->pairs, w->in->model, w->in->place, w->in->forest, t);
    if (scores->is_by_tracer[t])
        rows_add(w->rows, l->tracer, KIND);
    else
        add_kind(w, t, scores->part[t]);
    rows_add(w->rows, l->part + scores->part[t], PART);
    if (w->in->forest->index[t] == 0)
        rows_add(w->rows, l->first, FIRST);
    for (uint32_t p = 0; p < N_PARTS; p++)
        if (scores->value[p][t] > 0)
            rows_add(w->rows, l->nats + p, NAT * fmin(scores->value[p][t], MAX_NATS));
    rows_add(w->rows, l->all, ALL);
}

void reasons_find(struct reasons *reasons, const struct reasons_input *in, bool with_waves)
{
    struct waves waves = {0};
    struct writer w;

    reasons->n_lasting = reasons_columns(in->model);
    if (with_waves)
        waves_find(&waves, in->forest, in->measure);
    rows_init(&reasons->rows, reasons->n_lasting + waves.n);
    writer_init(&w, in, &reasons->rows);
    for (uint32_t t = 0; t < in->forest->n_trees; t++) {
        add_tree(&w, t);
        if (waves.n > 0 && waves.of[t] != WAVE_NONE)
            rows_add(&reasons->rows, reasons->n_lasting + waves.of[t],
                     WAVE * fmin(1, waves.evidence[waves.of[t]] / SURE_WAVE));
        rows_end(&reasons->rows);
    }
    residual_pairs_release(&w.pairs);
    free(w.end);
    waves_release(&waves);
}

/* --------------------------------------------------------------------------------- words */

/* The last two functions of a path. */
static void say_path(uint32_t path, const struct residual_model *model,
                     const struct definitions *defs, char *out, size_t size)
{
    uint32_t caller;

    if (path >= model->paths.n) {
        snprintf(out, size, "calls that were never seen");
        return;
    }
    caller = model->paths.parent[path];
    if (caller == PATH_NONE)
        snprintf(out, size, "%s", defs->region[model->paths.region[path]].name);
    else
        snprintf(out, size, "%s > %s", defs->region[model->paths.region[caller]].name,
                 defs->region[model->paths.region[path]].name);
}

void reasons_say(uint32_t kind, const struct residual_model *model,
                 const struct definitions *defs, char out[REASON_SIZE])
{
    static const char *const family[N_FAMILIES] = {"time in", "time, perhaps by chance, in",
                                                   "shape of"};
    struct column_layout l = layout_of(model);
    char path[REASON_SIZE - 24];

    if (kind == l.tracer) {
        snprintf(out, REASON_SIZE, "time in the tracer");
        return;
    }
    if (kind >= l.more) {
        snprintf(out, REASON_SIZE, "%s calls", kind == l.more ? "more" : "fewer");
        return;
    }
    say_path(kind % (l.n_paths + 1), model, defs, path, sizeof path);
    snprintf(out, REASON_SIZE, "%s %s", family[kind / (l.n_paths + 1)], path);
}
