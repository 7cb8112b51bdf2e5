/*
 * Learning the model. What depends on functions and callers alone is found in one tree of each
 * kind, in the order of trees, so that numbers are given as if all were looked at; then threads
 * go over the times.
 *
 * Times are brought together by context, each context beside the others of its path, and
 * sorted: first every context, then the whole path. Their logarithms are never stored, and only
 * those of a few are needed (robust_log_times).
 *
 * Where several processes have the trees (forest/tree_share.h), what one process would find by
 * going through trees is found in each one's own: numbers are made those of all (numbering),
 * counts are added up, times go to the process that has their path (struct partition), and what
 * there is one of for each tree goes to process 0. All that is computed is computed in one
 * place from the same numbers in the same order, or in any order where that is no matter.
 */
#include "features/residual_fit.h"

#include "base/divisor.h"
#include "base/mem.h"
#include "features/context.h"
#include "features/residual.h"
#include "features/robust.h"
#include "features/periodic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TICK_SHARE 0.01       /* of D: a call that took longer says nothing of the clock */
#define OFFSET_SHARE 1e-3     /* of D: times smaller than this are all alike */
#define MIN_WHOLE_SCALE 0.005 /* of log times of executions */
#define MIN_LOSS_Z 3.54       /* widths: a normal variable is further out once in 5,000 times */
#define NOISE_SHARE (1 / 5000.0)
#define MIN_SUM_SCALE 0.05
#define MIN_SIZE_SCALE 0.2
#define MIN_SUMS 10 /* trees must have a path, for its sum to be judged */
#define MIN_FIRST 5 /* locations, for first executions to be compared with each other */

/* That have any trees. */
static uint32_t count_locations(const struct fit *f)
{
    const struct forest *forest = f->forest;
    uint32_t n = 0;

    for (uint32_t l = 0; f->share && l < f->share->n_locations; l++)
        n += f->share->n_trees[l] > 0;
    for (uint32_t t = 0; f->share == NULL && t < forest->n_trees; t++)
        n += t == 0 || forest->location[t] != forest->location[t - 1];
    return n;
}

/* Process 0 has the times of all trees, and says what it finds in them; they are given away. */
static void fit_roots(const struct fit *f, double *root_ns)
{
    struct residual_model *m = f->m;
    double *all = tree_share_take(f->share, root_ns, sizeof *root_ns);

    if (all) {
        m->root_ns = robust_quantile(all, f->n_trees, robust_middle(f->n_trees));
        m->shortest_ns = (uint64_t)robust_quantile(all, f->n_trees, 0);
        m->longest_ns = (uint64_t)robust_quantile(all, f->n_trees, 1);
    }
    free(all);
    tree_share_tell(f->share, &m->root_ns, sizeof m->root_ns);
    tree_share_tell(f->share, &m->shortest_ns, sizeof m->shortest_ns);
    tree_share_tell(f->share, &m->longest_ns, sizeof m->longest_ns);
}

/* ---------------------------------------------------------------------- the clock's tick */

#define TICK_ROWS 65536u

struct tick_bounds {
    const uint64_t *exclusive_ns;
    uint64_t *least, *most; /* [workers] */
};

static void find_ticks(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct tick_bounds *ticks = ctx;
    uint64_t least = ticks->least[worker], most = ticks->most[worker];

    for (size_t v = begin; v < end; v++) {
        uint64_t ns = ticks->exclusive_ns[v];

        least = ns - 1 < least - 1 ? ns : least; /* 0 is none: it becomes the largest */
        most = ns > most ? ns : most;
    }
    ticks->least[worker] = least;
    ticks->most[worker] = most;
}

struct range_ns {
    uint64_t least, most;
};

static void widen(void *into, const void *from, size_t n)
{
    struct range_ns *range = into;
    const struct range_ns *other = from;

    (void)n;
    range->least = other->least - 1 < range->least - 1 ? other->least : range->least;
    range->most = other->most > range->most ? other->most : range->most;
}

/* The smallest time above 0, 1 where there is none; and the largest. */
static uint64_t find_least(struct fit *f)
{
    unsigned n = pool_threads(f->in->pool);
    struct tick_bounds ticks = {f->forest->exclusive_ns, mem_alloc(n, sizeof *ticks.least),
                                mem_alloc(n, sizeof *ticks.most)};
    struct range_ns range = {0, 0};

    pool_for(f->in->pool, f->forest->n, TICK_ROWS, find_ticks, &ticks);
    for (unsigned w = 0; w < n; w++)
        widen(&range, &(struct range_ns){ticks.least[w], ticks.most[w]}, 1);
    tree_share_add(f->share, &range, 1, sizeof range, widen);
    free(ticks.least);
    free(ticks.most);
    f->longest_ns = range.most;
    return range.least > 0 ? range.least : 1;
}

static void add_tick(void *into, const void *from, size_t n)
{
    uint64_t *tick = into;

    (void)n;
    *tick = common_divisor(*(const uint64_t *)from, *tick);
}

/*
 * D and c. Among many calls the shortest took hardly more than a tick. Where all of them take
 * long, as those of a function that calls nobody, it is no such thing: with a c as long as the
 * calls, what one takes more would count half.
 */
static void fit_scales(struct fit *f)
{
    const struct forest *forest = f->forest;
    double *root = mem_alloc(forest->n_trees, sizeof *root);
    uint64_t least = find_least(f);

    for (uint32_t t = 0; t < forest->n_trees; t++)
        root[t] = (double)forest_own_ns(forest, t);
    fit_roots(f, root);
    if ((double)least > TICK_SHARE * f->m->root_ns && f->m->root_ns > 0) {
        uint64_t tick = 0; /* what the clock counts: what all times are multiples of */

        for (uint32_t v = 0; v < forest->n && tick != 1; v++)
            tick = common_divisor(forest->exclusive_ns[v], tick);
        tree_share_add(f->share, &tick, 1, sizeof tick, add_tick);
        least = tick;
    }
    if (f->m->root_ns <= 0)
        f->m->root_ns = (double)least;
    f->m->offset_ns = fmax((double)least, OFFSET_SHARE * f->m->root_ns);
}

/* ----------------------------------------------------------------------------- contexts */

/* Paths of the vertices of kinds, by the numbers of all processes from here on. */
static void unite_paths(struct fit *f, uint32_t *path)
{
    struct context *paths = &f->m->paths;
    struct first_seen *seen = numbering_seen(f->forest, f->kinds, path, paths->n);
    uint32_t *to = mem_resize(NULL, paths->n, sizeof *to);

    context_unite(paths, f->share, seen, to);
    numbering_apply(to, path, f->kinds->at[f->kinds->n]);
    free(seen);
    free(to);
}

struct class_entry {
    struct key id;
    uint32_t path, is_turn;
};

static struct key identify_class(void *entry, const uint32_t *to)
{
    (void)to;
    return ((struct class_entry *)entry)->id;
}

/* The same of classes. */
static void unite_classes(struct fit *f, uint32_t *class)
{
    struct idmap *id = &f->m->class_id;
    struct class_entry *own = mem_resize(NULL, id->n, sizeof *own), *all;
    struct first_seen *seen = numbering_seen(f->forest, f->kinds, class, id->n);
    uint32_t *to = mem_resize(NULL, id->n, sizeof *to), n;
    struct numbering numbering = {id->n, seen, own, sizeof *own, identify_class};

    for (uint32_t c = 0; c < id->n; c++)
        own[c] = (struct class_entry){id->key[c], f->path_of[c], f->is_turn[c]};
    all = numbering_unite(f->share, &numbering, to, &n);
    numbering_apply(to, class, f->kinds->at[f->kinds->n]);
    idmap_release(id);
    f->path_of = mem_resize(f->path_of, n, sizeof *f->path_of);
    f->is_turn = mem_resize(f->is_turn, n, sizeof *f->is_turn);
    for (uint32_t c = 0; c < n; c++) {
        idmap_add(id, all[c].id);
        f->path_of[c] = all[c].path;
        f->is_turn[c] = all[c].is_turn;
    }
    free(own);
    free(seen);
    free(to);
    free(all);
}

static void number_paths(struct fit *f)
{
    uint32_t *path = f->place->path;

    for (uint32_t k = 0; k < f->kinds->n; k++)
        context_number_tree(&f->m->paths, f->forest, f->kinds->first[k], true,
                            path + f->kinds->at[k]);
    if (f->share)
        unite_paths(f, path);
    kind_sets_find(&f->paths, f->kinds, path, f->m->paths.n);
}

/*
 * Numbers the classes of the vertices of kinds.
 *   key      (vertices of the kinds) of each
 *   is_turn  (same) or NULL: none is
 */
static void number_classes(struct fit *f, const struct key *key, const bool *is_turn)
{
    uint32_t *class = f->place->class, n = f->kinds->at[f->kinds->n];

    idmap_release(&f->m->class_id);
    free(f->path_of);
    free(f->is_turn);
    kind_sets_release(&f->classes);
    for (uint32_t i = 0; i < n; i++)
        class[i] = idmap_add(&f->m->class_id, key[i]);
    f->path_of = mem_alloc(f->m->class_id.n, sizeof *f->path_of);
    f->is_turn = mem_alloc(f->m->class_id.n, sizeof *f->is_turn);
    for (uint32_t i = 0; i < n; i++) {
        f->path_of[class[i]] = f->place->path[i];
        f->is_turn[class[i]] = is_turn && is_turn[i];
    }
    if (f->share)
        unite_classes(f, class);
    kind_sets_find(&f->classes, f->kinds, class, f->m->class_id.n);
}

static void add_contexts(void *into, const void *from, size_t n)
{
    struct residual_context *context = into;
    const struct residual_context *other = from;

    for (size_t i = 0; i < n; i++) {
        context[i].n_calls += other[i].n_calls;
        context[i].n_trees += other[i].n_trees;
    }
}

/* How many calls and trees each path or class has. */
static struct residual_context *count_contexts(const struct fit *f,
                                               const struct kind_sets *sets, uint32_t n)
{
    struct residual_context *context = mem_alloc(n, sizeof *context);

    for (uint32_t k = 0; k < f->kinds->n; k++)
        for (size_t i = sets->first[k]; i < sets->first[k + 1]; i++) {
            context[sets->number[i]].n_calls += f->kinds->n_trees[k] * sets->count[i];
            context[sets->number[i]].n_trees += f->kinds->n_trees[k];
        }
    tree_share_add(f->share, context, n, sizeof *context, add_contexts);
    return context;
}

/*
 * Classes: vertices of one path with the same complete subtree. Where few trees have that, and
 * a periodic path is below, those of this path with the latter. A checkpoint that a program
 * of two ranks has written twelve times is compared with checkpoints.
 */
static void find_classes(struct fit *f)
{
    const struct wl *wl = f->in->wl;
    struct residual_model *m = f->m;
    uint32_t n = f->kinds->at[f->kinds->n], *turn;
    struct key *key = mem_resize(NULL, n, sizeof *key);
    bool *is_turn;

    for (uint32_t i = 0; i < n; i++)
        key[i] = residual_class_key(&wl->vocab, wl->complete[i], f->place->path[i]);
    number_classes(f, key, NULL);
    m->class = count_contexts(f, &f->classes, m->class_id.n);
    if (!residual_has_turns(m)) {
        free(key);
        return;
    }
    turn = mem_resize(NULL, n, sizeof *turn);
    is_turn = mem_alloc(n, sizeof *is_turn);
    for (uint32_t k = 0; k < f->kinds->n; k++)
        residual_turns(m, f->forest, f->kinds->first[k], f->place->path + f->kinds->at[k],
                       turn + f->kinds->at[k]);
    for (uint32_t i = 0; i < n; i++) {
        is_turn[i] =
            turn[i] != PATH_NONE && m->class[f->place->class[i]].n_trees < RESIDUAL_MIN_TREES;
        if (is_turn[i])
            key[i] = residual_turn_key(turn[i], f->place->path[i]);
    }
    number_classes(f, key, is_turn);
    free(m->class);
    m->class = count_contexts(f, &f->classes, m->class_id.n);
    for (uint32_t c = 0; c < m->class_id.n; c++)
        m->class[c].is_turn = f->is_turn[c];
    free(key);
    free(turn);
    free(is_turn);
}

/* What robust_groups needs to find x of a list of vertices. */
struct log_times {
    const uint64_t *exclusive_ns;
    const uint32_t *vertex;
    const double *local; /* ln of the factors of their locations */
    double offset_ns;
};

static double log_time(size_t i, const void *ctx)
{
    const struct log_times *times = ctx;

    return log((double)times->exclusive_ns[times->vertex[i]] + times->offset_ns) -
           times->local[i];
}

/*
 * Centres of the calls in first executions, per path, on a location without a factor of its own:
 * warming up is not strange by itself, and where calls of a path always take less, or more, so do
 * those of the first execution. Of few locations the centre is the lower of two, so that one that
 * took longer than the other is strange; and it is of the program's own work alone, as a wait is
 * no warming up.
 */
static void fit_first(const struct fit *f)
{
    struct residual_model *m = f->m;
    const struct forest *forest = f->forest;
    const struct view view = {m, f->place, forest};
    uint32_t *vertex = NULL, *group = NULL, *count;
    double *local = NULL;
    struct log_times times = {.exclusive_ns = forest->exclusive_ns, .offset_ns = m->offset_ns};
    struct robust_items items = {
        .n_groups = m->paths.n, .value = log_time, .ctx = &times, .deal = &f->deal};
    struct spread *spread;
    size_t n = 0, vertex_cap = 0, group_cap = 0, local_cap = 0;

    m->first_centre = mem_resize(m->first_centre, m->paths.n, sizeof *m->first_centre);
    for (uint32_t p = 0; p < m->paths.n; p++)
        m->first_centre[p] = -INFINITY;
    if (f->n_locations < 2)
        return;
    for (uint32_t t = 0; t < forest->n_trees; t++)
        for (uint32_t v = forest->first[t]; forest->index[t] == 0 && v < forest->first[t + 1];
             v++) {
            mem_grow(&vertex, &vertex_cap, n + 1);
            mem_grow(&group, &group_cap, n + 1);
            mem_grow(&local, &local_cap, n + 1);
            group[n] = residual_path(f->place, forest, t, v);
            local[n] = log_factor_of(m, local_of(&view, t, group[n]));
            vertex[n++] = v;
        }
    spread = mem_alloc(m->paths.n, sizeof *spread);
    count = mem_alloc(m->paths.n, sizeof *count);
    times.vertex = vertex;
    times.local = local;
    items.group = group;
    items.n = n;
    robust_groups(&items, 1, f->in->pool, spread, count);
    for (uint32_t p = 0; p < m->paths.n; p++)
        if (m->is_warm ? count[p] >= MIN_FIRST
                       : f->n_first[p] == f->n_locations &&
                             f->in->defs->region[m->paths.region[p]].kind == REGION_USER)
            m->first_centre[p] = spread[p].centre;
    free(vertex);
    free(group);
    free(local);
    free(spread);
    free(count);
}

/* ------------------------------------------------------------------------ sums of paths */

/*
 * Of every pair of a tree and a path what was observed, what is typical, and ln of their ratio.
 * A factor of a location is one of all calls of a path there, so that calls are gone through
 * only once; but in first executions not all have it.
 */
struct sums {
    struct view view;
    const struct fit *fit;
    struct residual_pairs *pairs; /* [workers] */
    size_t *first;                /* [trees + 1] of the pairs of each */
    struct sum {
        double observed_ns, typical_ns; /* with the offset of each call in both */
        uint32_t n_calls;
    } * sum;                 /* [first[trees]] */
    struct local_time *time; /* [same] */
    uint32_t *path;          /* [same] */
    double *typical_ns;      /* [trees] without the offsets, which were only for logarithms */
};

/* Observed and typical time with the offset in both, which cancels in the time lost. */
static void gather_sums(struct residual_pairs *g, const struct view *view, uint32_t t)
{
    const uint32_t *next = residual_begin_tree(g, view, t);
    const uint64_t *own_ns = view->forest->exclusive_ns;
    uint32_t end = view->forest->first[t + 1];
    double offset_ns = view->m->offset_ns;

    for (uint32_t v = view->forest->first[t]; v < end; v++) {
        const struct typical_call *c = typical_call(g, *next++, view, t, v);
        struct residual_pair *pair = &g->pair[c->pair];

        pair->n_calls++;
        pair->observed_ns += (double)own_ns[v] + offset_ns;
        pair->typical_ns += c->typical;
    }
}

static void take_logs(const struct sums *s, size_t t)
{
    double typical_ns = 0;

    for (size_t i = s->first[t]; i < s->first[t + 1]; i++) {
        const struct sum *sum = &s->sum[i];

        typical_ns += sum->typical_ns - sum->n_calls * s->view.m->offset_ns;
        s->time[i].log_ratio = log(sum->observed_ns / sum->typical_ns);
    }
    s->typical_ns[t] = typical_ns;
}

static void sum_tree(const struct sums *s, struct residual_pairs *g, size_t t)
{
    gather_sums(g, &s->view, (uint32_t)t);
    for (size_t i = 0; i < g->n; i++) {
        const struct residual_pair *pair = &g->pair[i];
        size_t at = s->first[t] + i;

        s->path[at] = s->time[at].path = pair->path;
        s->time[at].site = s->view.place->site[t];
        s->sum[at] = (struct sum){pair->observed_ns, pair->typical_ns, pair->n_calls};
    }
    take_logs(s, t);
}

static void sum_trees(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct sums *s = ctx;

    for (size_t t = begin; t < end; t++)
        sum_tree(s, &s->pairs[worker], t);
}

/* By the factors of locations, which there were none of before. */
static void localize_trees(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct sums *s = ctx;

    for (size_t t = begin; t < end; t++) {
        if (s->view.forest->index[t] == 0) {
            sum_tree(s, &s->pairs[worker], t);
            continue;
        }
        for (size_t i = s->first[t]; i < s->first[t + 1]; i++) {
            uint32_t local = local_of(&s->view, (uint32_t)t, s->path[i]);

            if (local != LOCAL_NONE)
                s->sum[i].typical_ns *= s->view.m->local.factor[local];
        }
        take_logs(s, t);
    }
}

static void sums_init(struct sums *s, const struct fit *f)
{
    uint32_t n = f->forest->n_trees;

    *s = (struct sums){.view = {f->m, f->place, f->forest},
                       .fit = f,
                       .first = mem_resize(NULL, (size_t)n + 1, sizeof *s->first),
                       .typical_ns = mem_resize(NULL, n, sizeof *s->typical_ns)};
    s->first[0] = 0;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t kind = f->kinds->of[t];

        s->first[t + 1] = s->first[t] + f->paths.first[kind + 1] - f->paths.first[kind];
    }
    s->sum = mem_resize(NULL, s->first[n], sizeof *s->sum);
    s->time = mem_resize(NULL, s->first[n], sizeof *s->time);
    s->path = mem_resize(NULL, s->first[n], sizeof *s->path);
}

static void sums_find(struct sums *s, pool_fn *each)
{
    struct pool *pool = s->fit->in->pool;
    uint32_t n = s->fit->forest->n_trees;

    s->pairs = residual_pairs_each(s->view.m, pool); /* for one view: factors change */
    pool_for(pool, n, pool_grain(pool, n), each, s);
    residual_pairs_free(s->pairs, pool);
}

static double log_ratio(size_t i, const void *ctx)
{
    return ((const struct sums *)ctx)->time[i].log_ratio;
}

/* The spread of these per path. */
static void fit_path_sums(struct residual_model *m, const struct sums *s)
{
    const struct robust_items items = {
        s->first[s->fit->forest->n_trees], s->path, m->paths.n, log_ratio, s, &s->fit->deal};
    uint32_t *count = mem_alloc(m->paths.n, sizeof *count);

    robust_groups(&items, MIN_SUM_SCALE, s->fit->in->pool, m->path_sum, count);
    for (uint32_t p = 0; p < m->paths.n; p++)
        if (count[p] < MIN_SUMS)
            m->path_sum[p] = (struct spread){0, 0};
    free(count);
}

/* Beyond which width chance puts one execution of so many, by the tail that the others
 * have; the further tail is taken for an exponential one. Of few values no tail is known. */
static double noise_limit(double *z, size_t n)
{
    static const double share[] = {0.05, 0.1, 0.2};
    double at = MIN_LOSS_Z;

    for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
        double inner = fmin(2 * share[i], 0.5), here, slope;

        if (share[i] * (double)n < 2)
            continue;
        here = robust_quantile(z, n, 1 - share[i]);
        slope = (here - robust_quantile(z, n, 1 - inner)) / log(inner / share[i]);
        at = fmax(at, here + slope * log(share[i] / NOISE_SHARE));
        break;
    }
    return at;
}

/* How long executions are that are not in the way of each other; process 0 has them all. */
static void fit_wholes(struct residual_model *m, const struct sums *s)
{
    const struct forest *forest = s->fit->forest;
    const struct tree_share *share = s->fit->share;
    uint32_t n = forest->n_trees, n_all = s->fit->n_trees;
    double *ratio = mem_alloc(n, sizeof *ratio), *given = mem_alloc(n, sizeof *given), *all;

    for (uint32_t t = 0; t < n; t++)
        given[t] = ratio[t] = log(fmax((double)forest_own_ns(forest, t), m->offset_ns) /
                                  fmax(s->typical_ns[t], m->offset_ns));
    all = tree_share_take(share, given, sizeof *given);
    if (all) {
        double *scratch = mem_alloc(n_all, sizeof *scratch);

        m->whole = robust_for_one_more(all, scratch, n_all, MIN_WHOLE_SCALE);
        free(scratch);
    }
    free(all);
    tree_share_tell(share, &m->whole, sizeof m->whole);
    local_typical_wholes(&m->local, forest, share, ratio, m->whole, MIN_WHOLE_SCALE);
    for (uint32_t t = 0; t < n; t++) {
        struct spread whole = m->local.whole[s->view.place->site[t]];

        ratio[t] = (ratio[t] - whole.centre) / whole.scale;
    }
    all = tree_share_take(share, ratio, sizeof *ratio);
    if (all)
        m->loss_z = noise_limit(all, n_all);
    m->loss_ratio = INFINITY;
    free(all);
    tree_share_tell(share, &m->loss_z, sizeof m->loss_z);
}

/* What trees spend on paths: everywhere, then by location, then both taken together. */
static void fit_sums(const struct fit *f)
{
    struct residual_model *m = f->m;
    struct sums sums;

    m->path_sum = mem_alloc(m->paths.n, sizeof *m->path_sum);
    local_typical_sites(&m->local, f->forest, f->in->defs, f->share);
    residual_place_local(m, f->in, f->place);
    sums_init(&sums, f);
    sums_find(&sums, sum_trees);
    fit_path_sums(m, &sums);
    local_typical_fit(&m->local, sums.time, sums.first[f->forest->n_trees], m->path_sum,
                      MIN_CALL_SCALE, f->in->pool);
    local_typical_unite(&m->local, f->share);
    if (m->local.at.n > 0) {
        residual_place_local(m, f->in, f->place);
        fit_first(f); /* by these factors, which come of sums that need the centres before */
        sums_find(&sums, localize_trees);
        fit_path_sums(m, &sums);
    }
    fit_wholes(m, &sums);
    free(sums.first);
    free(sums.sum);
    free(sums.time);
    free(sums.path);
    free(sums.typical_ns);
}

/* ------------------------------------------------------------------------------- sizes */

/* Median and width of what all trees have; only on process 0. */
static void fit_size_scale(struct residual_model *m, double *d, uint32_t n)
{
    double *off = mem_alloc(n, sizeof *off);

    for (uint32_t t = 0; t < n; t++)
        off[t] = d[t];
    m->log_size = robust_quantile(d, n, robust_lower_middle(n)); /* as many as a tree has */
    for (uint32_t t = 0; t < n; t++)
        off[t] = residual_round(fabs(off[t] - m->log_size));
    /* how far out a normal variable is two-sided at these shares: 1, 1.645, 1.96 deviations */
    m->size_scale =
        fmax(fmax(robust_quantile(off, n, 0.6827), robust_quantile(off, n, 0.9) / 1.645),
             fmax(robust_quantile(off, n, 0.95) / 1.96, MIN_SIZE_SCALE));
    free(off);
}

static void fit_sizes(const struct fit *f)
{
    struct residual_model *m = f->m;
    uint32_t n = f->forest->n_trees;
    double *of_kind = mem_alloc(f->kinds->n, sizeof *of_kind), *d = mem_alloc(n, sizeof *d);

    for (uint32_t k = 0; k < f->kinds->n; k++)
        of_kind[k] = log_size_of(m, f->place, f->forest, f->kinds->first[k]);
    for (uint32_t t = 0; t < n; t++)
        d[t] = of_kind[f->kinds->of[t]];
    d = tree_share_take(f->share, d, sizeof *d);
    if (d)
        fit_size_scale(m, d, f->n_trees);
    tree_share_tell(f->share, &m->log_size, sizeof m->log_size);
    tree_share_tell(f->share, &m->size_scale, sizeof m->size_scale);
    free(of_kind);
    free(d);
}

/*
 * Functions that are known from samples, with nothing below them that is known otherwise: how
 * many calls of them there are, or none, is chance. So it is that a write of the tracer was held up.
 */
static void mark_sampled(struct residual_model *m, const struct definitions *defs)
{
    bool *is_made = mem_alloc(m->paths.n, sizeof *is_made); /* a call on it, or below it */

    for (uint32_t p = m->paths.n; p-- > 0;) { /* callers come first */
        const struct region *region = &defs->region[m->paths.region[p]];

        is_made[p] |= !region->is_sampled && !region_name_is_held_up(region->name);
        if (is_made[p] && m->paths.parent[p] != PATH_NONE)
            is_made[m->paths.parent[p]] = true;
    }
    for (uint32_t p = 0; p < m->paths.n; p++)
        m->apart[p] |= is_made[p] ? 0 : PATH_SAMPLED;
    free(is_made);
}

/* How many first executions have each path, and which paths no other execution has. */
static void mark_opening(struct fit *f)
{
    struct residual_model *m = f->m;

    f->n_first = mem_alloc(m->paths.n, sizeof *f->n_first);
    for (uint32_t t = 0; t < f->forest->n_trees; t++) {
        uint32_t k = f->kinds->of[t];

        for (size_t i = f->paths.first[k];
             f->forest->index[t] == 0 && i < f->paths.first[k + 1]; i++)
            f->n_first[f->paths.number[i]]++;
    }
    tree_share_add(f->share, f->n_first, m->paths.n, sizeof *f->n_first, tree_share_sum_u32);
    for (uint32_t p = 0; p < m->paths.n; p++)
        if (f->n_locations > 1 && f->n_trees > f->n_locations &&
            f->n_first[p] == f->n_locations && m->path[p].n_trees == f->n_locations)
            m->apart[p] |= PATH_OPENING;
}

/* ------------------------------------------------------------------------------- public */

void residual_fit(struct residual_model *m, struct residual_place *place,
                  const struct residual_input *in)
{
    struct fit f = {
        .m = m, .place = place, .in = in, .forest = in->forest, .kinds = &in->wl->kinds};

    f.share = in->share;
    f.n_trees = in->share ? in->share->n_all : in->forest->n_trees;
    *m = (struct residual_model){.n_trees = f.n_trees};
    residual_place_init(place, in);
    if (f.n_trees == 0)
        return;
    f.n_locations = count_locations(&f);
    m->is_warm = f.n_locations >= MIN_FIRST;
    fit_scales(&f);
    number_paths(&f);
    m->apart = periodic_paths(&m->paths, in->forest, f.kinds, &f.paths, f.share);
    mark_sampled(m, in->defs);
    m->path = count_contexts(&f, &f.paths, m->paths.n);
    mark_opening(&f);
    find_classes(&f);
    residual_deal_paths(&f);
    residual_fit_contexts(&f);
    fit_first(&f);
    shapes_find(&m->shapes,
                &(struct shapes_input){.forest = in->forest,
                                       .kinds = f.kinds,
                                       .path = place->path,
                                       .is_apart = m->apart,
                                       .defs = in->defs,
                                       .share = f.share},
                true, place->shape);
    shapes_rank(&m->shapes, m->is_warm);
    fit_sums(&f);
    fit_sizes(&f);
    free(f.n_first);
    kind_sets_release(&f.paths);
    kind_sets_release(&f.classes);
    partition_release(&f.deal);
    free(f.path_of);
    free(f.is_turn);
    free(f.owner);
    free(f.is_split);
}
