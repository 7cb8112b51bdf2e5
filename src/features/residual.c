/*
 * Fitting groups the calls twice, by path and by class, and never stores their logs: a
 * logarithm is cheaper than eight bytes per call. The paths of a tree are gathered with a stamp
 * per path, so that no tree needs a table of its own.
 */
#include "features/residual.h"

#include "base/mem.h"
#include "base/err.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OFFSET_SHARE 1e-3     /* of D: times smaller than this are all alike */
#define LEAST_CALL_SCALE 0.10 /* of log times of calls: 10 % is never strange */
#define LEAST_SUM_SCALE 0.05
#define LEAST_SIZE_SCALE 0.2
#define FEWEST_TREES 30 /* a class must occur in, to be a context of its own */
#define FEWEST_SUMS 10  /* trees must have a path, for its sum to be judged */
#define FEWEST_FIRST 5  /* locations, for first executions to be compared with each other */
#define MATERIAL 0.02   /* of D: less time lost than this does not matter */
#define SURE_Z 6        /* a call that is so many scales late counts half */
#define MOST_Z 25       /* more is not stranger */

void residual_release(struct residual_model *model)
{
    context_release(&model->paths);
    free(model->path);
    free(model->is_on_schedule);
    free(model->path_sum);
    free(model->first_centre);
    idmap_release(&model->class_id);
    free(model->class);
    local_usual_release(&model->local);
    shapes_release(&model->shapes);
    *model = (struct residual_model){0};
}

/* ------------------------------------------------------------------------------- fitting */

static uint32_t count_locations(const struct forest *forest)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < forest->n_trees; t++)
        n += t == 0 || forest->location[t] != forest->location[t - 1];
    return n;
}

/* D and c. */
static void fit_scales(struct residual_model *m, const struct forest *forest)
{
    double *root = mem_alloc(forest->n_trees, sizeof *root);
    uint64_t tick = UINT64_MAX;

    for (uint32_t t = 0; t < forest->n_trees; t++)
        root[t] = (double)forest_own_ns(forest, t);
    for (uint32_t v = 0; v < forest->n; v++)
        if (forest->exclusive_ns[v] > 0 && forest->exclusive_ns[v] < tick)
            tick = forest->exclusive_ns[v];
    if (tick == UINT64_MAX)
        tick = 1;
    m->root_ns = robust_quantile(root, forest->n_trees, 0.5);
    if (m->root_ns <= 0)
        m->root_ns = (double)tick;
    m->offset_ns = fmax((double)tick, OFFSET_SHARE * m->root_ns);
    free(root);
}

static struct key class_key(const struct vocab *vocab, uint32_t word, uint32_t path)
{
    struct key key = vocab->label.key[word];

    key.high += path * 0x9e3779b97f4a7c15u;
    return key;
}

/* What robust_groups needs to find x of a vertex, or of one of a list. */
struct log_times {
    const uint64_t *exclusive_ns;
    const uint32_t *vertex; /* NULL: item i is vertex i */
    double offset_ns;
};

static double log_time(size_t i, const void *ctx)
{
    const struct log_times *times = ctx;
    size_t v = times->vertex ? times->vertex[i] : i;

    return log((double)times->exclusive_ns[v] + times->offset_ns);
}

static struct residual_context *fit_contexts(const struct residual_model *m,
                                             const struct forest *forest, const uint32_t *group,
                                             uint32_t n_groups)
{
    struct residual_context *context = mem_alloc(n_groups, sizeof *context);
    struct spread *spread = mem_alloc(n_groups, sizeof *spread);
    uint32_t *count = mem_alloc(n_groups, sizeof *count);
    uint32_t *last_tree = mem_alloc(n_groups, sizeof *last_tree); /* + 1 */
    struct log_times times = {forest->exclusive_ns, NULL, m->offset_ns};

    robust_groups(group, n_groups, forest->n, log_time, &times, LEAST_CALL_SCALE, spread,
                  count);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
            if (last_tree[group[v]] != t + 1) {
                last_tree[group[v]] = t + 1;
                context[group[v]].n_trees++;
            }
    for (uint32_t g = 0; g < n_groups; g++) {
        context[g].log_time = spread[g];
        context[g].typical = exp(spread[g].centre);
        context[g].n_calls = count[g];
    }
    free(spread);
    free(count);
    free(last_tree);
    return context;
}

/* Where the vertices of a forest are among the factors of locations. */
static void place_local(const struct residual_model *m, struct residual_place *place,
                        const struct forest *forest)
{
    for (uint32_t t = 0; t < forest->n_trees; t++)
        place->site[t] = local_usual_site(&m->local, forest, t);
    if (m->local.at.n == 0)
        return;
    place->local = mem_resize(NULL, forest->n, sizeof *place->local);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
            place->local[v] = local_usual_find(&m->local, place->site[t], place->path[v]);
}

/* Centres of the calls in first executions, per path: warming up is not strange by itself. */
static void fit_first(struct residual_model *m, const struct residual_place *place,
                      const struct forest *forest)
{
    uint32_t *vertex = NULL, *group = NULL, *count;
    struct log_times times = {.exclusive_ns = forest->exclusive_ns, .offset_ns = m->offset_ns};
    struct spread *spread;
    size_t n = 0, vertex_cap = 0, group_cap = 0;

    m->first_centre = mem_alloc(m->paths.n, sizeof *m->first_centre);
    for (uint32_t p = 0; p < m->paths.n; p++)
        m->first_centre[p] = -INFINITY;
    if (!m->is_warm)
        return;
    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; forest->index[t] == 0 && v < forest->first[t + 1];
             v++) {
            mem_grow(&vertex, &vertex_cap, n + 1, sizeof *vertex);
            mem_grow(&group, &group_cap, n + 1, sizeof *group);
            group[n] = place->path[v];
            vertex[n++] = v;
        }
    spread = mem_alloc(m->paths.n, sizeof *spread);
    count = mem_alloc(m->paths.n, sizeof *count);
    times.vertex = vertex;
    robust_groups(group, m->paths.n, n, log_time, &times, 1, spread, count);
    for (uint32_t p = 0; p < m->paths.n; p++)
        if (count[p] >= FEWEST_FIRST)
            m->first_centre[p] = spread[p].centre;
    free(vertex);
    free(group);
    free(spread);
    free(count);
}

/* ---------------------------------------------------------------------- one vertex */

/* A forest and where it is in a model: what the functions below look at. */
struct view {
    const struct residual_model *m;
    const struct residual_place *place;
    const struct forest *forest;
};

const struct residual_context *residual_context(const struct residual_model *m,
                                                const struct residual_place *place, uint32_t v)
{
    uint32_t path = place->path[v], class = place->class[v];

    if (path == PATH_NONE)
        return NULL;
    return class != IDMAP_NONE && m->class[class].n_trees >= FEWEST_TREES ? &m->class[class]
                                                                          : &m->path[path];
}

/* m, s and exp(m) for vertex v of tree t; of a path never seen, no time at all is usual. */
static inline struct residual_context context_of(const struct view *view, uint32_t t,
                                                 uint32_t v)
{
    const struct residual_model *m = view->m;
    uint32_t path = view->place->path[v];
    const struct residual_context *everywhere = residual_context(m, view->place, v);
    struct residual_context c;

    if (everywhere == NULL)
        return (struct residual_context){
            {log(m->offset_ns), LEAST_CALL_SCALE}, m->offset_ns, 0, 0};
    c = *everywhere;
    if (view->place->local && view->place->local[v] != LOCAL_NONE) {
        double log_factor = m->local.log_factor[view->place->local[v]];

        c.log_time.centre += log_factor;
        c.typical *= exp(log_factor);
    }
    if (m->is_warm && view->forest->index[t] == 0 &&
        m->first_centre[path] > c.log_time.centre) {
        c.log_time.centre = m->first_centre[path];
        c.typical = exp(m->first_centre[path]);
    }
    return c;
}

double residual_sure_ns(double excess_ns, double z)
{
    return excess_ns > 0 ? excess_ns / (1 + exp(fmin(SURE_Z - z, 50))) : 0;
}

double residual_call_everywhere(const struct residual_model *m,
                                const struct residual_place *place, const struct forest *forest,
                                uint32_t t, uint32_t v, double *typical_ns)
{
    struct residual_place everywhere = *place;

    everywhere.local = NULL;
    return residual_call(m, &everywhere, forest, t, v, typical_ns);
}

double residual_call(const struct residual_model *m, const struct residual_place *place,
                     const struct forest *forest, uint32_t t, uint32_t v, double *typical_ns)
{
    struct residual_context c = context_of(&(struct view){m, place, forest}, t, v);
    double x = log((double)forest->exclusive_ns[v] + m->offset_ns);

    *typical_ns = c.typical - m->offset_ns;
    return (x - c.log_time.centre) / c.log_time.scale;
}

/* ------------------------------------------------------------------ paths of a tree */

void residual_pairs_init(struct residual_pairs *g, const struct residual_model *model)
{
    size_t n = (size_t)model->paths.n + 1;

    *g = (struct residual_pairs){.n_paths = model->paths.n};
    g->pair = mem_alloc(n, sizeof *g->pair);
    g->stamp = mem_alloc(n, sizeof *g->stamp);
    g->slot = mem_alloc(n, sizeof *g->slot);
}

void residual_pairs_release(struct residual_pairs *g)
{
    free(g->pair);
    free(g->stamp);
    free(g->slot);
    *g = (struct residual_pairs){0};
}

/* Forgets the pairs of the last tree. */
static void next_tree(struct residual_pairs *g)
{
    g->n = 0;
    g->generation++;
}

static struct residual_pair *pair_of(struct residual_pairs *g, uint32_t path)
{
    uint32_t at = path == PATH_NONE ? g->n_paths : path;

    if (g->stamp[at] != g->generation) {
        g->stamp[at] = g->generation;
        g->slot[at] = (uint32_t)g->n;
        g->pair[g->n++] = (struct residual_pair){.path = path, .z_call = -INFINITY};
    }
    return &g->pair[g->slot[at]];
}

/* Observed and typical time with the offset in both, which cancels in the time lost. */
static void gather_sums(struct residual_pairs *g, const struct view *view, uint32_t t)
{
    const struct forest *forest = view->forest;

    next_tree(g);
    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
        struct residual_pair *pair = pair_of(g, view->place->path[v]);

        pair->n_calls++;
        pair->observed_ns += (double)forest->exclusive_ns[v] + view->m->offset_ns;
        pair->typical_ns += context_of(view, t, v).typical;
    }
}

static void gather_residuals(struct residual_pairs *g, const struct view *view, uint32_t t)
{
    const struct residual_model *m = view->m;
    const struct forest *forest = view->forest;

    next_tree(g);
    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++) {
        struct residual_pair *pair = pair_of(g, view->place->path[v]);
        struct residual_context c = context_of(view, t, v);
        double time = (double)forest->exclusive_ns[v] + m->offset_ns;
        double z = (log(time) - c.log_time.centre) / c.log_time.scale;

        pair->n_calls++;
        pair->observed_ns += time;
        pair->typical_ns += c.typical;
        if (z > pair->z_call)
            pair->z_call = z;
        pair->sure_ns += residual_sure_ns(time - c.typical, z);
    }
    for (size_t i = 0; i < g->n; i++) {
        struct residual_pair *pair = &g->pair[i];
        const struct spread *sum = pair->path == PATH_NONE ? NULL : &m->path_sum[pair->path];

        pair->lost_ns = pair->observed_ns - pair->typical_ns;
        if (sum && sum->scale > 0)
            pair->z_path =
                (log(pair->observed_ns / pair->typical_ns) - sum->centre) / sum->scale;
    }
}

/* ln(observed / typical) of every pair of a tree and a path. */
struct log_ratios {
    struct local_time *time; /* [n] */
    uint32_t *path;          /* [n] */
    size_t n, time_cap, path_cap;
};

static double log_ratio(size_t i, const void *ctx)
{
    return ((const struct log_ratios *)ctx)->time[i].log_ratio;
}

static void find_ratios(const struct view *view, struct log_ratios *r)
{
    struct residual_pairs g;

    residual_pairs_init(&g, view->m);
    r->n = 0;
    for (uint32_t t = 0; t < view->forest->n_trees; t++) {
        gather_sums(&g, view, t);
        mem_grow(&r->time, &r->time_cap, r->n + g.n, sizeof *r->time);
        mem_grow(&r->path, &r->path_cap, r->n + g.n, sizeof *r->path);
        for (size_t i = 0; i < g.n; i++, r->n++) {
            r->path[r->n] = g.pair[i].path;
            r->time[r->n] =
                (struct local_time){view->place->site[t], g.pair[i].path,
                                    log(g.pair[i].observed_ns / g.pair[i].typical_ns)};
        }
    }
    residual_pairs_release(&g);
}

/* The spread of these per path. */
static void fit_path_sums(struct residual_model *m, const struct log_ratios *r)
{
    uint32_t *count = mem_alloc(m->paths.n, sizeof *count);

    robust_groups(r->path, m->paths.n, r->n, log_ratio, r, LEAST_SUM_SCALE, m->path_sum, count);
    for (uint32_t p = 0; p < m->paths.n; p++)
        if (count[p] < FEWEST_SUMS)
            m->path_sum[p] = (struct spread){0, 0};
    free(count);
}

static void fit_wholes(struct residual_model *m, const struct residual_place *place,
                       const struct forest *forest)
{
    struct view view = {m, place, forest};
    double *ratio = mem_alloc(forest->n_trees, sizeof *ratio);
    double *sorted = mem_alloc(forest->n_trees, sizeof *sorted);
    struct residual_pairs g;

    residual_pairs_init(&g, m);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        double typical = 0, observed = (double)forest_own_ns(forest, t);

        gather_sums(&g, &view, t); /* the offset was only for the logs of single calls */
        for (size_t i = 0; i < g.n; i++)
            typical += g.pair[i].typical_ns - g.pair[i].n_calls * m->offset_ns;
        sorted[t] = ratio[t] = log(fmax(observed, m->offset_ns) / fmax(typical, m->offset_ns));
    }
    m->log_whole = robust_quantile(sorted, forest->n_trees, 0.5);
    local_usual_wholes(&m->local, forest, ratio, m->log_whole);
    residual_pairs_release(&g);
    free(ratio);
    free(sorted);
}

double residual_usual(const struct residual_model *m, const struct residual_place *place,
                      uint32_t t, double typical_ns)
{
    uint32_t site = place->site[t];

    return typical_ns * exp(site == LOCAL_NONE ? m->log_whole : m->local.log_whole[site]);
}

/* What trees spend on paths: everywhere, then by location, then both taken together. */
static void fit_sums(struct residual_model *m, struct residual_place *place,
                     const struct forest *forest)
{
    struct view view = {m, place, forest};
    struct log_ratios ratios = {0};

    m->path_sum = mem_alloc(m->paths.n, sizeof *m->path_sum);
    local_usual_sites(&m->local, forest);
    place_local(m, place, forest);
    find_ratios(&view, &ratios);
    fit_path_sums(m, &ratios);
    local_usual_fit(&m->local, ratios.time, ratios.n, m->path_sum, LEAST_CALL_SCALE);
    if (m->local.at.n > 0) {
        place_local(m, place, forest);
        find_ratios(&view, &ratios);
        fit_path_sums(m, &ratios);
    }
    free(ratios.time);
    free(ratios.path);
    fit_wholes(m, place, forest);
}

static double round_off(double x)
{
    return rint(x * 1e9) / 1e9;
}

static double log_size_of(const struct residual_model *m, const struct residual_place *place,
                          const struct forest *forest, uint32_t t)
{
    uint32_t n = 0;

    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
        n += place->path[v] == PATH_NONE || !m->is_on_schedule[place->path[v]];
    return log(n > 0 ? n : 1);
}

static void fit_sizes(struct residual_model *m, const struct residual_place *place,
                      const struct forest *forest)
{
    double *d = mem_alloc(forest->n_trees, sizeof *d);
    uint32_t n = forest->n_trees;

    for (uint32_t t = 0; t < n; t++)
        d[t] = log_size_of(m, place, forest, t);
    m->log_size = robust_quantile(d, n, 0.5);
    for (uint32_t t = 0; t < n; t++)
        d[t] = round_off(fabs(d[t] - m->log_size));
    /* how far out a normal variable is two-sided at these shares: 1, 1.645, 1.96 deviations */
    m->size_scale =
        fmax(fmax(robust_quantile(d, n, 0.6827), robust_quantile(d, n, 0.9) / 1.645),
             fmax(robust_quantile(d, n, 0.95) / 1.96, LEAST_SIZE_SCALE));
    free(d);
}

static void place_init(struct residual_place *place, const struct forest *forest)
{
    place->path = mem_resize(NULL, forest->n, sizeof *place->path);
    place->class = mem_resize(NULL, forest->n, sizeof *place->class);
    place->shape = mem_resize(NULL, forest->n, sizeof *place->shape);
    place->local = NULL;
    place->site = mem_resize(NULL, forest->n_trees, sizeof *place->site);
}

void residual_place_release(struct residual_place *place)
{
    free(place->path);
    free(place->class);
    free(place->shape);
    free(place->local);
    free(place->site);
    *place = (struct residual_place){0};
}

void residual_fit(struct residual_model *m, struct residual_place *place,
                  const struct forest *forest, const struct vocab *vocab,
                  const uint32_t *complete, const struct definitions *defs)
{
    *m = (struct residual_model){.n_trees = forest->n_trees};
    place_init(place, forest);
    if (forest->n_trees == 0)
        return;
    m->is_warm = count_locations(forest) >= FEWEST_FIRST;
    fit_scales(m, forest);
    context_number(&m->paths, forest, true, place->path);
    m->is_on_schedule = schedule_find(&m->paths, forest, place->path);
    for (uint32_t v = 0; v < forest->n; v++)
        place->class[v] =
            idmap_add(&m->class_id, class_key(vocab, complete[v], place->path[v]));
    m->path = fit_contexts(m, forest, place->path, m->paths.n);
    m->class = fit_contexts(m, forest, place->class, m->class_id.n);
    fit_first(m, place, forest);
    shapes_find(&m->shapes, forest, place->path, m->is_on_schedule, defs, true, place->shape);
    shapes_rank(&m->shapes, m->is_warm);
    fit_sums(m, place, forest);
    fit_sizes(m, place, forest);
}

void residual_locate(const struct residual_model *m, struct residual_place *place,
                     const struct forest *forest, const struct vocab *vocab,
                     const uint32_t *complete, const struct definitions *defs)
{
    struct context paths = m->paths; /* not changed without learning */
    struct shapes shapes = m->shapes;

    place_init(place, forest);
    context_number(&paths, forest, false, place->path);
    for (uint32_t v = 0; v < forest->n; v++)
        place->class[v] =
            place->path[v] == PATH_NONE
                ? IDMAP_NONE
                : idmap_find(&m->class_id, class_key(vocab, complete[v], place->path[v]));
    place_local(m, place, forest);
    shapes_find(&shapes, forest, place->path, m->is_on_schedule, defs, false, place->shape);
}

/* ----------------------------------------------------------------------------- measures */

static void measure_time(const struct residual_model *m, const struct residual_pairs *g,
                         struct residual_measure *out)
{
    double sure = 0, lost = 0, z_call = 0, z_path = 0;

    for (size_t i = 0; i < g->n; i++) {
        const struct residual_pair *pair = &g->pair[i];

        sure += pair->sure_ns / m->root_ns;
        lost += pair->lost_ns / m->root_ns;
        if (pair->lost_ns <= MATERIAL * m->root_ns)
            continue;
        z_call = fmax(z_call, pair->z_call);
        z_path = fmax(z_path, pair->z_path);
    }
    out->gross = round_off(fmax(lost, 0));
    out->sure = round_off(sure);
    out->time = round_off(log1p(sure / MATERIAL) + sqrt(fmin(z_call, MOST_Z)) +
                          sqrt(fmin(z_path, MOST_Z)));
}

double residual_rarity(const struct residual_model *m, const struct residual_place *place,
                       const struct forest *forest, uint32_t t, uint32_t v)
{
    uint32_t path = place->path[v], shape = place->shape[v];

    if (path == PATH_NONE)
        return log((double)m->n_trees + 1);
    if (shape == SHAPE_NONE)
        return log((double)m->path[path].n_calls + 1);
    if (m->is_warm && forest->index[t] == 0)
        return fmin(m->shapes.rarity[shape], m->shapes.first_rarity[shape]);
    return m->shapes.rarity[shape];
}

static void measure_structure(const struct view *view, uint32_t t, struct residual_measure *out)
{
    out->structure = -1;
    for (uint32_t v = view->forest->first[t]; v < view->forest->first[t + 1]; v++) {
        double rarity = residual_rarity(view->m, view->place, view->forest, t, v);

        if (rarity > out->structure) {
            out->structure = rarity;
            out->rarest = v;
        }
    }
    out->structure = round_off(out->structure);
}

void residual_measures(const struct residual_model *m, const struct residual_place *place,
                       const struct forest *forest, struct residual_measure *measure)
{
    struct view view = {m, place, forest};
    struct residual_pairs g;

    residual_pairs_init(&g, m);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        struct residual_measure *out = &measure[t];

        gather_residuals(&g, &view, t);
        measure_time(m, &g, out);
        measure_structure(&view, t, out);
        out->size = round_off(fabs(log_size_of(m, place, forest, t) - m->log_size));
        out->tracer = round_off((double)forest->tracer_ns[t] / m->root_ns);
        out->size_z = m->is_warm && forest->index[t] == 0 ? 0 : out->size / m->size_scale;
    }
    residual_pairs_release(&g);
}

void residual_pairs_of(struct residual_pairs *pairs, const struct residual_model *m,
                       const struct residual_place *place, const struct forest *forest,
                       uint32_t t)
{
    gather_residuals(pairs, &(struct view){m, place, forest}, t);
    for (size_t i = 0; i < pairs->n; i++) { /* the offset was only for the logs */
        pairs->pair[i].observed_ns -= pairs->pair[i].n_calls * m->offset_ns;
        pairs->pair[i].typical_ns -= pairs->pair[i].n_calls * m->offset_ns;
    }
}

/* ------------------------------------------------------------------------------ bytes */

/* Arrays in the order of the struct; maps are their keys, added again in order. */
#define FORMAT 3u /* of the bytes */

static void pack_contexts(struct pack *p, const struct residual_context *context, uint32_t n)
{
    pack_u64(p, n);
    for (uint32_t i = 0; i < n; i++) {
        pack_f64(p, context[i].log_time.centre);
        pack_f64(p, context[i].log_time.scale);
        pack_u32(p, context[i].n_calls);
        pack_u32(p, context[i].n_trees);
    }
}

static void pack_shapes(struct pack *p, const struct shapes *s)
{
    uint32_t n = s->id.n;

    pack_array(p, s->id.key, n, sizeof *s->id.key);
    pack_array(p, s->path, n, sizeof *s->path);
    pack_array(p, s->calls, n, sizeof *s->calls);
    pack_array(p, s->first_calls, n, sizeof *s->first_calls);
    pack_array(p, s->child_first, n ? (size_t)n + 1 : 0, sizeof *s->child_first);
    pack_array(p, s->child, n ? s->child_first[n] : 0, sizeof *s->child);
}

void residual_pack(const struct residual_model *m, struct pack *p)
{
    uint32_t n = m->paths.n;

    pack_u32(p, FORMAT);
    pack_u32(p, m->n_trees);
    pack_u32(p, m->is_warm);
    pack_f64(p, m->root_ns);
    pack_f64(p, m->offset_ns);
    pack_f64(p, m->log_whole);
    pack_f64(p, m->log_size);
    pack_f64(p, m->size_scale);
    pack_array(p, m->paths.parent, n, sizeof *m->paths.parent);
    pack_array(p, m->paths.region, n, sizeof *m->paths.region);
    pack_array(p, m->is_on_schedule, n, sizeof *m->is_on_schedule);
    pack_array(p, m->path_sum, n, sizeof *m->path_sum);
    pack_array(p, m->first_centre, n, sizeof *m->first_centre);
    pack_contexts(p, m->path, n);
    pack_array(p, m->class_id.key, m->class_id.n, sizeof *m->class_id.key);
    pack_contexts(p, m->class, m->class_id.n);
    local_usual_pack(&m->local, p);
    pack_shapes(p, &m->shapes);
}

static struct residual_context *unpack_contexts(struct pack *p, size_t n)
{
    struct residual_context *context = calloc(n + 1, sizeof *context);

    if (unpack_u64(p) != n || context == NULL)
        p->is_bad = true;
    for (size_t i = 0; !p->is_bad && i < n; i++) {
        context[i].log_time.centre = unpack_f64(p);
        context[i].log_time.scale = unpack_f64(p);
        context[i].typical = exp(context[i].log_time.centre);
        context[i].n_calls = unpack_u32(p);
        context[i].n_trees = unpack_u32(p);
        p->is_bad |= !(context[i].log_time.scale > 0) || !isfinite(context[i].typical);
    }
    return context;
}

static void unpack_paths(struct residual_model *m, struct pack *p, uint32_t n_regions)
{
    size_t n = unpack_count(p, sizeof(uint32_t));
    uint32_t *parent = unpack_array(p, n, sizeof *parent);
    uint32_t *region = unpack_array(p, n, sizeof *region);

    for (uint32_t i = 0; !p->is_bad && i < n; i++) {
        p->is_bad |= region[i] >= n_regions || (parent[i] != PATH_NONE && parent[i] >= i) ||
                     context_add(&m->paths, parent[i], region[i]) != i;
    }
    free(parent);
    free(region);
    m->is_on_schedule = unpack_array(p, n, sizeof *m->is_on_schedule);
    m->path_sum = unpack_array(p, n, sizeof *m->path_sum);
    m->first_centre = unpack_array(p, n, sizeof *m->first_centre);
    m->path = unpack_contexts(p, n);
}

static void unpack_keys(struct idmap *map, struct pack *p)
{
    size_t n = unpack_count(p, sizeof(struct key));
    struct key *key = unpack_array(p, n, sizeof *key);

    for (uint32_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= idmap_add(map, key[i]) != i;
    free(key);
}

static void unpack_shapes(struct shapes *s, struct pack *p, uint32_t n_paths,
                          uint32_t n_regions)
{
    size_t n_children;
    uint32_t n;

    unpack_keys(&s->id, p);
    n = s->id.n;
    s->path = unpack_array(p, n, sizeof *s->path);
    s->calls = unpack_array(p, n, sizeof *s->calls);
    s->first_calls = unpack_array(p, n, sizeof *s->first_calls);
    s->child_first = unpack_array(p, n ? (size_t)n + 1 : 0, sizeof *s->child_first);
    n_children = unpack_count(p, sizeof *s->child);
    s->child = unpack_array(p, n_children, sizeof *s->child);
    for (uint32_t i = 0; !p->is_bad && i < n; i++)
        p->is_bad |= s->path[i] >= n_paths || s->calls[i] == 0 ||
                     s->child_first[i] > s->child_first[i + 1];
    if (!p->is_bad && n > 0)
        p->is_bad |= s->child_first[0] != 0 || s->child_first[n] != n_children;
    for (size_t i = 0; !p->is_bad && i < n_children; i++)
        p->is_bad |= s->child[i].region >= n_regions || s->child[i].number_class > 33;
}

int residual_unpack(struct residual_model *m, struct pack *p, uint32_t n_regions)
{
    *m = (struct residual_model){0};
    if (unpack_u32(p) != FORMAT)
        return err_set(ERR_FORMAT, "the residual model is of another version");
    m->n_trees = unpack_u32(p);
    m->is_warm = unpack_u32(p) != 0;
    m->root_ns = unpack_f64(p);
    m->offset_ns = unpack_f64(p);
    m->log_whole = unpack_f64(p);
    m->log_size = unpack_f64(p);
    m->size_scale = unpack_f64(p);
    p->is_bad |=
        !(m->root_ns > 0) || !(m->offset_ns > 0) || !(m->size_scale > 0) ||
        !isfinite(m->root_ns + m->offset_ns + exp(m->log_whole) + m->log_size + m->size_scale);
    unpack_paths(m, p, n_regions);
    unpack_keys(&m->class_id, p);
    m->class = unpack_contexts(p, m->class_id.n);
    local_usual_unpack(&m->local, p, m->paths.n);
    unpack_shapes(&m->shapes, p, m->paths.n, n_regions);
    if (p->is_bad)
        return err_set(ERR_FORMAT, "the residual model is damaged");
    shapes_rank(&m->shapes, m->is_warm);
    return 0;
}

void residual_rename(struct residual_model *m, const uint32_t *to)
{
    struct shapes *s = &m->shapes;
    size_t n_children = s->id.n ? s->child_first[s->id.n] : 0;

    context_rename(&m->paths, to);
    for (size_t i = 0; i < n_children; i++)
        s->child[i].region = to[s->child[i].region];
}
