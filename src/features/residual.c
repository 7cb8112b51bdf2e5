/*
 * What vertices and trees are worth by a model; residual_fit.c makes it. The paths of a tree
 * are gathered with a stamp per path, so that no tree needs a table of its own.
 */
#include "features/residual.h"

#include "base/err.h"
#include "base/error_bound.h"
#include "base/mem.h"
#include "features/residual_fit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_TURN_TREES 10 /* RESIDUAL_MIN_TREES of executions that come by plan */
#define MATERIAL 0.02     /* of D: less time lost than this does not matter */
#define SURE_Z 6          /* a call that is so many scales late counts half */
#define MAX_Z 25          /* more is not stranger */
/* Paths that fewer than 1 in so many trees have are typically not there, and those of a handful
 * of trees that are fewer than 1 in RARE_OF_FEW. */
#define RARE_PATH 50
#define RARE_OF_FEW 10
#define NOISE_Z 3 /* a path is named from so many widths on */

void residual_release(struct residual_model *model)
{
    context_release(&model->paths);
    free(model->path);
    free(model->apart);
    free(model->path_sum);
    free(model->first_centre);
    idmap_release(&model->class_id);
    free(model->class);
    local_typical_release(&model->local);
    shapes_release(&model->shapes);
    *model = (struct residual_model){0};
}

/* --------------------------------------------------------------------- finding vertices */

struct key residual_class_key(const struct vocab *vocab, uint32_t word, uint32_t path)
{
    struct key key = vocab->label.key[word];

    key.high += path * 0x9e3779b97f4a7c15u;
    return key;
}

struct key residual_turn_key(uint32_t turn, uint32_t path)
{
    return key_pair(turn, path);
}

bool residual_has_turns(const struct residual_model *m)
{
    for (uint32_t p = 0; p < m->paths.n; p++)
        if (path_is_periodic(m->apart, p))
            return true;
    return false;
}

void residual_turns(const struct residual_model *m, const struct forest *forest, uint32_t t,
                    const uint32_t *path, uint32_t *turn)
{
    uint32_t first = forest->first[t], n = forest->first[t + 1] - first;

    for (uint32_t i = 0; i < n; i++)
        turn[i] = path_is_periodic(m->apart, path[i]) ? path[i] : PATH_NONE;
    for (uint32_t i = n; i-- > 1;) { /* callers come first */
        uint32_t *up = &turn[forest->parent[first + i] - first];

        if (turn[i] != PATH_NONE &&
            (*up == PATH_NONE || m->path[turn[i]].n_trees < m->path[*up].n_trees))
            *up = turn[i];
    }
    for (uint32_t i = 0; i < n; i++)
        if (path_is_periodic(m->apart, path[i]))
            turn[i] = PATH_NONE;
}

/* Is it a context of its own, or are there too few to say what is typical of them? */
static bool is_context(const struct residual_context *class)
{
    return class->n_trees >= (class->is_turn ? MIN_TURN_TREES : RESIDUAL_MIN_TREES);
}

/* Numbers the locations of a forest that have factors. Returns how many there are. */
static uint32_t number_rows(const struct residual_model *m, const struct forest *forest,
                            struct residual_place *place)
{
    uint8_t *has = mem_alloc(m->local.site.n, sizeof *has);
    uint32_t *row_of = mem_resize(NULL, m->local.site.n, sizeof *row_of), n = 0;

    for (uint32_t i = 0; i < m->local.at.n; i++)
        has[m->local.at.key[i].high] = 1;
    memset(row_of, 0xff, m->local.site.n * sizeof *row_of);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        uint32_t site = place->site[t];
        bool is_local = site != LOCAL_NONE && has[site];

        if (is_local && row_of[site] == LOCAL_NONE)
            row_of[site] = n++;
        place->row[t] = is_local ? row_of[site] : LOCAL_NONE;
    }
    free(row_of);
    free(has);
    return n;
}

/* Factors are found once for each path and location, not for each call. */
void residual_place_local(const struct residual_model *m, const struct residual_input *input,
                          struct residual_place *place)
{
    const struct forest *forest = input->forest;
    uint32_t n_filled = 0, n_rows;

    for (uint32_t t = 0; t < forest->n_trees; t++)
        place->site[t] = local_typical_site(&m->local, forest, t);
    if (m->local.at.n == 0)
        return;
    place->row = mem_resize(NULL, forest->n_trees, sizeof *place->row);
    n_rows = number_rows(m, forest, place);
    place->local = mem_resize(NULL, (size_t)n_rows * m->paths.n, sizeof *place->local);
    for (uint32_t t = 0; n_filled < n_rows; t++) {
        uint32_t *local = place->local + (size_t)n_filled * m->paths.n;

        if (place->row[t] != n_filled) /* rows are numbered as they are met */
            continue;
        for (uint32_t path = 0; path < m->paths.n; path++)
            local[path] = local_typical_find(&m->local, place->site[t], path);
        n_filled++;
    }
}

void residual_place_init(struct residual_place *place, const struct residual_input *input)
{
    const struct forest *forest = input->forest;
    const struct tree_kinds *kinds = &input->wl->kinds;

    place->path = mem_resize(NULL, kinds->at[kinds->n], sizeof *place->path);
    place->class = mem_resize(NULL, kinds->at[kinds->n], sizeof *place->class);
    place->shape = mem_resize(NULL, kinds->at[kinds->n], sizeof *place->shape);
    place->local = place->row = NULL;
    place->site = mem_resize(NULL, forest->n_trees, sizeof *place->site);
    place->like = mem_resize(NULL, forest->n_trees, sizeof *place->like);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        place->like[t] = kinds->at[kinds->of[t]];
}

void residual_place_release(struct residual_place *place)
{
    free(place->path);
    free(place->class);
    free(place->shape);
    free(place->local);
    free(place->row);
    free(place->site);
    free(place->like);
    *place = (struct residual_place){0};
}

/* Classes of tree t, which stands for its kind. */
static void locate_classes(const struct residual_model *m, const struct residual_input *input,
                           uint32_t t, const uint32_t *word, const uint32_t *path,
                           const uint32_t *turn, uint32_t *class)
{
    uint32_t n = input->forest->first[t + 1] - input->forest->first[t];

    for (uint32_t i = 0; i < n; i++) {
        class[i] = IDMAP_NONE;
        if (path[i] == PATH_NONE)
            continue;
        class[i] =
            idmap_find(&m->class_id, residual_class_key(&input->wl->vocab, word[i], path[i]));
        if (turn && turn[i] != PATH_NONE &&
            (class[i] == IDMAP_NONE || !is_context(&m->class[class[i]])))
            class[i] = idmap_find(&m->class_id, residual_turn_key(turn[i], path[i]));
    }
}

void residual_locate(const struct residual_model *m, struct residual_place *place,
                     const struct residual_input *input)
{
    const struct forest *forest = input->forest;
    const struct tree_kinds *kinds = &input->wl->kinds;
    struct context paths = m->paths; /* not changed without learning */
    struct shapes shapes = m->shapes;
    uint32_t *path, *turn = NULL;

    residual_place_init(place, input);
    path = place->path;
    if (residual_has_turns(m))
        turn = mem_resize(NULL, kinds->at[kinds->n], sizeof *turn);
    for (uint32_t k = 0; k < kinds->n; k++) {
        uint32_t at = kinds->at[k], t = kinds->first[k];

        context_number_tree(&paths, forest, t, false, path + at);
        if (turn)
            residual_turns(m, forest, t, path + at, turn + at);
        locate_classes(m, input, t, input->wl->complete + at, path + at,
                       turn ? turn + at : NULL, place->class + at);
    }
    free(turn);
    residual_place_local(m, input, place);
    shapes_find(&shapes,
                &(struct shapes_input){.forest = forest,
                                       .kinds = kinds,
                                       .path = place->path,
                                       .is_apart = m->apart,
                                       .defs = input->defs},
                false, place->shape);
}

/* ---------------------------------------------------------------------- one vertex */

const struct residual_context *residual_context(const struct residual_model *m,
                                                const struct residual_place *place,
                                                const struct forest *forest, uint32_t t,
                                                uint32_t v)
{
    uint32_t like = residual_like(place, forest, t, v);
    uint32_t path = place->path[like], class = place->class[like];

    if (path == PATH_NONE)
        return NULL;
    return class != IDMAP_NONE && is_context(&m->class[class]) ? &m->class[class]
                                                               : &m->path[path];
}

static double sure_ns(double excess_ns, double z)
{
    return excess_ns > 0 ? excess_ns / (1 + exp(fmin(SURE_Z - z, 50))) : 0;
}

double residual_typical(const struct residual_model *m, const struct residual_place *place,
                        const struct forest *forest, uint32_t t, uint32_t v)
{
    return context_of(&(struct view){m, place, forest}, t, v).typical - m->offset_ns;
}

double residual_common(const struct residual_model *m, const struct residual_place *place,
                       const struct forest *forest, uint32_t t, uint32_t v)
{
    uint32_t path = residual_path(place, forest, t, v);

    if (path == PATH_NONE || 2 * (uint64_t)m->path[path].n_trees < m->n_trees)
        return 0;
    return residual_typical(m, place, forest, t, v);
}

double residual_typical_everywhere(const struct residual_model *m,
                                   const struct residual_place *place,
                                   const struct forest *forest, uint32_t t, uint32_t v)
{
    struct residual_place everywhere = *place;

    everywhere.local = NULL;
    return residual_typical(m, &everywhere, forest, t, v);
}

/* z of a call; time is with the offset. */
static double residual_of(double time_ns, double centre, double scale)
{
    return (log(time_ns) - centre) / scale;
}

double residual_sure(const struct residual_model *m, const struct residual_place *place,
                     const struct forest *forest, uint32_t t, uint32_t v)
{
    struct residual_context c = context_of(&(struct view){m, place, forest}, t, v);
    double own = (double)forest->exclusive_ns[v], excess = own - (c.typical - m->offset_ns);

    return excess > 0 ? sure_ns(excess, residual_of(own + m->offset_ns, c.log_time.centre,
                                                    c.log_time.scale))
                      : 0;
}

/* ------------------------------------------------------------------ paths of a tree */

void residual_pairs_init(struct residual_pairs *g, const struct residual_model *model)
{
    size_t n = (size_t)model->paths.n + 1;

    *g = (struct residual_pairs){.n_paths = model->paths.n, .n_classes = model->class_id.n};
    g->pair = mem_alloc(n, sizeof *g->pair);
    g->stamp = mem_alloc(n, sizeof *g->stamp);
    g->slot = mem_alloc(n, sizeof *g->slot);
    g->typical = mem_alloc((size_t)g->n_classes + 1, sizeof *g->typical);
}

void residual_pairs_release(struct residual_pairs *g)
{
    free(g->pair);
    free(g->stamp);
    free(g->slot);
    free(g->typical);
    *g = (struct residual_pairs){0};
}

struct residual_pairs *residual_pairs_each(const struct residual_model *model,
                                           struct pool *pool)
{
    struct residual_pairs *pairs = mem_alloc(pool_threads(pool), sizeof *pairs);

    for (unsigned w = 0; w < pool_threads(pool); w++)
        residual_pairs_init(&pairs[w], model);
    return pairs;
}

void residual_pairs_free(struct residual_pairs *pairs, struct pool *pool)
{
    for (unsigned w = 0; w < pool_threads(pool); w++)
        residual_pairs_release(&pairs[w]);
    free(pairs);
}

const uint32_t *residual_begin_tree(struct residual_pairs *g, const struct view *view,
                                    uint32_t t)
{
    uint32_t row = view->place->row ? view->place->row[t] : LOCAL_NONE;
    bool is_first = view->forest->index[t] == 0;

    g->n = 0;
    g->generation++;
    if (g->typical_generation == 0 || row != g->typical_row || is_first ||
        g->is_typical_first) {
        g->typical_generation++;
        g->typical_row = row;
        g->is_typical_first = is_first;
    }
    return view->place->class + view->place->like[t];
}

const struct typical_call *residual_look_up(struct residual_pairs *g, const struct view *view,
                                            uint32_t t, uint32_t v)
{
    uint32_t class = view->place->class[residual_like(view->place, view->forest, t, v)];
    bool has_class = class < g->n_classes;
    struct typical_call *typical = &g->typical[has_class ? class : g->n_classes];

    if (!has_class || typical->place != g->typical_generation) {
        struct residual_context c = context_of(view, t, v);

        *typical = (struct typical_call){.typical = c.typical,
                                         .centre = c.log_time.centre,
                                         .scale = c.log_time.scale,
                                         .path = residual_path(view->place, view->forest, t, v),
                                         .place = g->typical_generation};
    }
    typical->pair = pair_of(g, typical->path);
    if (has_class)
        typical->tree = g->generation;
    return typical;
}

/*
 * A call that took less than typical has lost nothing, and its residual is not above 0. Where no
 * more is asked for, or another's is, its logarithm is saved.
 */
static void gather_residuals(struct residual_pairs *g, const struct view *view, uint32_t t,
                             bool is_late_only)
{
    const struct residual_model *m = view->m;
    const uint32_t *next = residual_begin_tree(g, view, t);
    const uint64_t *own_ns = view->forest->exclusive_ns;
    uint32_t end = view->forest->first[t + 1];
    double offset_ns = m->offset_ns;

    for (uint32_t v = view->forest->first[t]; v < end; v++) {
        const struct typical_call *c = typical_call(g, *next++, view, t, v);
        struct residual_pair *pair = &g->pair[c->pair];
        double time = (double)own_ns[v] + offset_ns, z;

        pair->n_calls++;
        pair->observed_ns += time;
        pair->typical_ns += c->typical;
        if (time <= c->typical && (is_late_only || pair->z_call >= 0))
            continue;
        z = residual_of(time, c->centre, c->scale);
        if (z > pair->z_call)
            pair->z_call = z;
        pair->sure_ns += sure_ns(time - c->typical, z);
    }
    for (size_t i = 0; i < g->n; i++) {
        struct residual_pair *pair = &g->pair[i];
        const struct spread *sum = pair->path == PATH_NONE ? NULL : &m->path_sum[pair->path];

        pair->excess_ns = pair->observed_ns - pair->typical_ns;
        if (sum && sum->scale > 0)
            pair->z_path =
                (log(pair->observed_ns / pair->typical_ns) - sum->centre) / sum->scale;
    }
}

/* The offset was only for the logs. */
static void take_offset_out(struct residual_pairs *g, double offset_ns)
{
    for (size_t i = 0; i < g->n; i++) {
        g->pair[i].observed_ns -= g->pair[i].n_calls * offset_ns;
        g->pair[i].typical_ns -= g->pair[i].n_calls * offset_ns;
    }
}

bool residual_is_typical(const struct residual_model *m, uint32_t path)
{
    uint64_t n;

    if (path == PATH_NONE)
        return false;
    n = m->path[path].n_trees;
    if (RARE_PATH * n < m->n_trees)
        return false;
    return n >= ROBUST_FEW || RARE_OF_FEW * n >= m->n_trees || path_is_periodic(m->apart, path);
}

bool residual_stands_out(const struct residual_model *m, const struct residual_pair *pair)
{
    if (fabs(pair->excess_ns) <= MATERIAL * m->root_ns)
        return false;
    return !residual_is_typical(m, pair->path) || fabs(pair->z_path) >= NOISE_Z ||
           (pair->excess_ns > 0 && pair->z_call >= NOISE_Z);
}

#define MAX_TYPICAL_NS 0x1p62 /* of which a difference can still be taken */

void residual_loss_of(struct residual_pairs *g, const struct residual_model *m,
                      const struct residual_place *place, const struct forest *forest,
                      uint32_t t, struct residual_loss *out)
{
    uint32_t site = place->site[t];
    /* what executions with these calls typically take on this rank, by what the calls take */
    struct spread whole = site == LOCAL_NONE ? m->whole : m->local.whole[site];
    double calls_ns = 0, own_ns = (double)forest_own_ns(forest, t), typical_ns;

    for (size_t i = 0; i < g->n; i++) {
        struct residual_pair *pair = &g->pair[i];

        if (!residual_is_typical(m, pair->path)) {
            pair->typical_ns = 0;
            pair->excess_ns = pair->observed_ns;
        }
        calls_ns += pair->typical_ns;
    }
    typical_ns = residual_is_few(m) ? m->root_ns : fmax(calls_ns, 0) * exp(whole.centre);
    out->typical_ns =
        llrint(fmin(typical_ns, MAX_TYPICAL_NS)); /* a damaged model may say any */
    out->more_ns = llrint(own_ns) - out->typical_ns;
    out->z = log(fmax(own_ns, m->offset_ns) / fmax(typical_ns, m->offset_ns)) / whole.scale;
    out->ns = residual_is_long(m, out) && !forest->open_ns[t] ? out->more_ns : 0;
}

/* ----------------------------------------------------------------------------- measures */

/* By how much what calls of each path took may be too long: no call by more than it took. */
static void gather_offs(struct residual_pairs *g, const struct view *view, uint32_t t)
{
    const struct forest *forest = view->forest;

    if (forest->off_ns == NULL)
        return;
    for (uint32_t v = forest->first[t]; v < forest->first[t + 1]; v++)
        g->pair[pair_of(g, residual_path(view->place, forest, t, v))].off_ns +=
            fmin((double)forest->off_ns[v], (double)forest->exclusive_ns[v]);
}

/*
 * What of the time lost may be nothing but begins and ends that were elsewhere: those inside
 * only move time from one call to another, those of the execution itself make it shorter. But
 * what a call lost beyond what its own are off by is lost.
 */
static void measure_offs(const struct residual_model *m, const struct residual_pairs *g,
                         double root_off_ns, struct residual_measure *out)
{
    double off = root_off_ns / m->root_ns, certain = 0;

    out->sure_off = out->gross_off = 0;
    if (off <= 0)
        return;
    for (size_t i = 0; i < g->n; i++)
        certain += error_bound_beyond(g->pair[i].sure_ns, g->pair[i].off_ns) / m->root_ns;
    out->gross_off = residual_round(fmin(out->gross, off));
    out->sure_off = residual_round(fmin(fmax(out->sure - certain, 0), off));
}

/* Made in few executions, and not by plan. */
static bool is_rare(const struct residual_model *m, uint32_t path)
{
    return !residual_is_typical(m, path) && !path_is_periodic(m->apart, path);
}

static void measure_time(const struct residual_model *m, const struct residual_pairs *g,
                         struct residual_measure *out)
{
    double sure = 0, lost = 0, rare = 0, z_call = 0, z_path = 0;

    for (size_t i = 0; i < g->n; i++) {
        const struct residual_pair *pair = &g->pair[i];

        sure += pair->sure_ns / m->root_ns;
        lost += pair->excess_ns / m->root_ns;
        rare += is_rare(m, pair->path)
                    ? (pair->observed_ns - pair->n_calls * m->offset_ns) / m->root_ns
                    : 0;
        if (pair->excess_ns <= MATERIAL * m->root_ns)
            continue;
        z_call = fmax(z_call, pair->z_call);
        z_path = fmax(z_path, pair->z_path);
    }
    out->gross = residual_round(fmax(lost, 0));
    out->own = NAN;
    out->rare = residual_round(rare);
    out->sure = residual_round(sure);
    out->time = residual_round(log1p(sure / MATERIAL) + sqrt(fmin(z_call, MAX_Z)) +
                               sqrt(fmin(z_path, MAX_Z)));
}

double residual_rarity(const struct residual_model *m, const struct residual_place *place,
                       const struct forest *forest, uint32_t t, uint32_t v)
{
    uint32_t like = residual_like(place, forest, t, v);
    uint32_t path = place->path[like], shape = place->shape[like];

    if (path == PATH_NONE)
        return log((double)m->n_trees + 1);
    if (shape == SHAPE_NONE)
        return log((double)m->path[path].n_calls + 1);
    if (m->is_warm && forest->index[t] == 0)
        return fmin(shape_rarity(&m->shapes, shape, false),
                    shape_rarity(&m->shapes, shape, true));
    return shape_rarity(&m->shapes, shape, false);
}

/* The rarest shape of a tree. */
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
    out->structure = residual_round(out->structure);
}

/* What the trees of a kind have in common; first executions are measured one by one. */
struct kind_measure {
    double structure, log_size;
    uint32_t rarest; /* vertex, from the root on */
    bool is_known;
};

struct measuring {
    struct view view;
    const struct tree_kinds *kinds;
    struct residual_pairs *pairs; /* [workers] */
    struct residual_measure *measure;
    struct kind_measure *common; /* [kinds] */
};

static bool is_first(const struct view *view, uint32_t t)
{
    return view->m->is_warm && view->forest->index[t] == 0;
}

static void measure_kinds(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct measuring *w = ctx;
    const struct view *view = &w->view;

    (void)worker;
    for (size_t k = begin; k < end; k++) {
        uint32_t t = w->kinds->first[k];
        struct residual_measure found;

        w->common[k].log_size = log_size_of(view->m, view->place, view->forest, t);
        if (is_first(view, t))
            continue;
        measure_structure(view, t, &found);
        w->common[k].structure = found.structure;
        w->common[k].rarest = found.rarest - view->forest->first[t];
        w->common[k].is_known = true;
    }
}

/* Where nothing is typical there is one order: by how much longer they took than that in the middle. */
static void measure_few(const struct residual_model *m, uint32_t root,
                        struct residual_measure *out)
{
    out->structure = out->size = out->size_z = out->brief = 0;
    out->rarest = root;
    out->time = out->gross = residual_round(fmax((double)out->loss.more_ns / m->root_ns, 0));
}

static void measure_trees(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct measuring *w = ctx;
    const struct residual_model *m = w->view.m;
    const struct forest *forest = w->view.forest;

    for (size_t i = begin; i < end; i++) {
        uint32_t t = (uint32_t)i;
        struct residual_measure *out = &w->measure[t];
        struct residual_pairs *pairs = &w->pairs[worker];
        const struct kind_measure *common = &w->common[w->kinds->of[t]];

        gather_residuals(pairs, &w->view, t, true);
        gather_offs(pairs, &w->view, t);
        measure_time(m, pairs, out);
        measure_offs(m, pairs, forest_off_ns(forest, t), out);
        take_offset_out(pairs, m->offset_ns);
        residual_loss_of(pairs, m, w->view.place, forest, t, &out->loss);
        out->open_ns = forest->open_ns[t];
        out->brief =
            out->open_ns || forest->is_cut[t] ? 0 : residual_round(fmax(-out->loss.z, 0));
        out->saved = residual_round(fmax((double)-out->loss.more_ns / m->root_ns, 0));
        if (common->is_known && !is_first(&w->view, t)) {
            out->structure = common->structure;
            out->rarest = forest->first[t] + common->rarest;
        } else {
            measure_structure(&w->view, t, out);
        }
        out->size = residual_round(fabs(common->log_size - m->log_size));
        out->tracer = residual_round((double)forest->tracer_ns[t] / m->root_ns);
        out->size_z = is_first(&w->view, t) ? 0 : out->size / m->size_scale;
        if (residual_is_few(m))
            measure_few(m, forest->first[t], out);
    }
}

void residual_measures(const struct residual_model *m, const struct residual_place *place,
                       const struct residual_input *input, struct residual_measure *measure)
{
    struct pool *pool = input->pool;
    uint32_t n_kinds = input->wl->kinds.n, n_trees = input->forest->n_trees;
    struct measuring work = {.view = {m, place, input->forest},
                             .kinds = &input->wl->kinds,
                             .pairs = residual_pairs_each(m, pool),
                             .measure = measure,
                             .common = mem_alloc(n_kinds, sizeof *work.common)};

    pool_for(pool, n_kinds, pool_grain(pool, n_kinds), measure_kinds, &work);
    pool_for(pool, n_trees, pool_grain(pool, n_trees), measure_trees, &work);
    residual_pairs_free(work.pairs, pool);
    free(work.common);
}

void residual_pairs_of(struct residual_pairs *pairs, const struct residual_model *m,
                       const struct residual_place *place, const struct forest *forest,
                       uint32_t t)
{
    gather_residuals(pairs, &(struct view){m, place, forest}, t, false);
    gather_offs(pairs, &(struct view){m, place, forest}, t);
    take_offset_out(pairs, m->offset_ns);
}

/* ------------------------------------------------------------------------------ bytes */

/* Arrays in the order of the struct; maps are their keys, added again in order. */
#define FORMAT 6u         /* of the bytes; and earlier ones, which say nothing of */
#define WITHOUT_TURNS 5u  /* executions that come by plan, */
#define WITHOUT_ORDERS 4u /* nor of the order of calls */

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
    uint8_t *is_turn = mem_alloc(m->class_id.n, sizeof *is_turn);

    pack_u32(p, FORMAT);
    pack_u32(p, m->n_trees);
    pack_u32(p, m->is_warm);
    pack_f64(p, m->root_ns);
    pack_u64(p, m->shortest_ns);
    pack_u64(p, m->longest_ns);
    pack_f64(p, m->offset_ns);
    pack_f64(p, m->whole.centre);
    pack_f64(p, m->whole.scale);
    pack_f64(p, m->loss_z);
    pack_f64(p, m->loss_ratio);
    pack_f64(p, m->log_size);
    pack_f64(p, m->size_scale);
    pack_array(p, m->paths.parent, n, sizeof *m->paths.parent);
    pack_array(p, m->paths.region, n, sizeof *m->paths.region);
    pack_array(p, m->apart, n, sizeof *m->apart);
    pack_array(p, m->path_sum, n, sizeof *m->path_sum);
    pack_array(p, m->first_centre, n, sizeof *m->first_centre);
    pack_contexts(p, m->path, n);
    pack_array(p, m->class_id.key, m->class_id.n, sizeof *m->class_id.key);
    pack_contexts(p, m->class, m->class_id.n);
    local_typical_pack(&m->local, p);
    pack_shapes(p, &m->shapes);
    call_orders_pack(&m->shapes.orders, p);
    for (uint32_t c = 0; c < m->class_id.n; c++)
        is_turn[c] = m->class[c].is_turn;
    pack_array(p, is_turn, m->class_id.n, sizeof *is_turn);
    free(is_turn);
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
    m->apart = unpack_array(p, n, sizeof *m->apart);
    m->path_sum = unpack_array(p, n, sizeof *m->path_sum);
    m->first_centre = unpack_array(p, n, sizeof *m->first_centre);
    m->path = unpack_contexts(p, n);
}

static void unpack_shapes(struct shapes *s, struct pack *p, uint32_t n_paths,
                          uint32_t n_regions)
{
    size_t n_children;
    uint32_t n;

    idmap_unpack(&s->id, p);
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
    uint32_t format = unpack_u32(p);

    *m = (struct residual_model){0};
    if (format < WITHOUT_ORDERS || format > FORMAT)
        return err_set(ERR_FORMAT, "the residual model is of another version");
    m->n_trees = unpack_u32(p);
    m->is_warm = unpack_u32(p) != 0;
    m->root_ns = unpack_f64(p);
    m->shortest_ns = unpack_u64(p);
    m->longest_ns = unpack_u64(p);
    m->offset_ns = unpack_f64(p);
    m->whole.centre = unpack_f64(p);
    m->whole.scale = unpack_f64(p);
    m->loss_z = unpack_f64(p);
    m->loss_ratio = unpack_f64(p);
    m->log_size = unpack_f64(p);
    m->size_scale = unpack_f64(p);
    p->is_bad |= !(m->root_ns > 0) || !(m->offset_ns > 0) || !(m->size_scale > 0) ||
                 !(m->whole.scale > 0) || !(m->loss_z > 0) || !(m->loss_ratio >= 1) ||
                 !isfinite(m->root_ns + m->offset_ns + exp(m->whole.centre) + m->log_size +
                           m->size_scale);
    unpack_paths(m, p, n_regions);
    idmap_unpack(&m->class_id, p);
    m->class = unpack_contexts(p, m->class_id.n);
    local_typical_unpack(&m->local, p, m->paths.n);
    unpack_shapes(&m->shapes, p, m->paths.n, n_regions);
    call_orders_unpack(&m->shapes, format > WITHOUT_ORDERS ? p : NULL);
    if (format > WITHOUT_TURNS) {
        uint8_t *is_turn = unpack_array(p, m->class_id.n, sizeof *is_turn);

        for (uint32_t c = 0; !p->is_bad && c < m->class_id.n; c++)
            m->class[c].is_turn = is_turn[c] != 0;
        free(is_turn);
    }
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
