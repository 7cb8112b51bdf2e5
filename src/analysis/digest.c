/*
 * Two passes over the vertices: the first says what paths there are and which executions have
 * them, the second fills the batches and the sets.
 */
#include "analysis/digest.h"

#include "base/mem.h"
#include "base/order.h"
#include "explain/waiting.h"
#include "features/robust.h"
#include "trace/region_name.h"

#include <stdlib.h>
#include <string.h>

#define APART 1e-6 /* of their times, to hold two paths for those of different executions */

const double digest_quantile[DIGEST_QUANTILES] = {0.5, 0.95, 0.99};

struct maker {
    struct digest *d;
    const struct forest *forest;
    const struct definitions *defs;
    struct context paths;
    uint32_t *path;     /* [vertices] */
    uint32_t *stamp;    /* [paths] last tree that had it, + 1 */
    double *with_ns;    /* [paths] durations of the executions that have it */
    uint32_t *batch_of; /* [trees] */
    uint32_t *bit;      /* [paths] its number among the optional ones, or PATH_NONE */
    uint32_t set_of[1u << DIGEST_OPTIONAL]; /* number + 1 */
};

/* -------------------------------------------------------------------------------- paths */

/* "f(int) [{x.cpp} {10,1}-{20,1}]" is f(int), and "MPI_Wait@x.c:10" is MPI_Wait, wherever they
 * stand: lines are others from build to build. */
static uint32_t add_name(struct names *names, const char *name)
{
    const char *position = strstr(name, " [{");
    size_t n =
        position && position > name ? (size_t)(position - name) : region_name_plain(name);
    char *cut;
    uint32_t id;

    if (name[n] == '\0')
        return names_add(names, name);
    cut = mem_copy_string(name);
    cut[n] = '\0';
    id = names_add(names, cut);
    free(cut);
    return id;
}

static void name_paths(struct maker *m)
{
    struct digest *d = m->d;

    d->n_paths = m->paths.n;
    d->path = mem_alloc(d->n_paths, sizeof *d->path);
    for (uint32_t p = 0; p < d->n_paths; p++) {
        const struct region *region = &m->defs->region[m->paths.region[p]];

        d->path[p].parent = m->paths.parent[p];
        d->path[p].name = add_name(&d->names, region->name);
        d->path[p].is_waiting = waiting_is_likely(region);
    }
    d->foi = d->path[0].name;
}

static void add_up_paths(struct maker *m)
{
    const struct forest *f = m->forest;

    m->stamp = mem_alloc(m->d->n_paths, sizeof *m->stamp);
    m->with_ns = mem_alloc(m->d->n_paths, sizeof *m->with_ns);
    for (uint32_t t = 0; t < f->n_trees; t++)
        for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
            struct digest_path *path = &m->d->path[m->path[v]];

            path->n_calls++;
            path->time_ns += (double)f->exclusive_ns[v];
            path->off_ns += forest_call_off_ns(f, v);
            if (m->stamp[m->path[v]] == t + 1)
                continue;
            m->stamp[m->path[v]] = t + 1;
            m->with_ns[m->path[v]] += (double)forest_own_ns(f, t);
            path->n_executions++;
        }
}

static void add_up_durations(struct maker *m)
{
    struct digest *d = m->d;
    double *x = mem_alloc(m->forest->n_trees, sizeof *x);

    d->n_executions = m->forest->n_trees;
    for (uint32_t t = 0; t < d->n_executions; t++) {
        x[t] = (double)forest_own_ns(m->forest, t);
        d->time_ns += x[t];
        d->off_ns += forest_off_ns(m->forest, t);
    }
    for (uint32_t i = 0; i < DIGEST_QUANTILES; i++)
        d->duration_ns[i] = robust_quantile(x, d->n_executions, digest_quantile[i]);
    free(x);
}

/* ----------------------------------------------------------------------- optional paths */

/* How much of the variance of durations it explains that some executions have the path; 0 where
 * they do not differ by it. */
static double explained(const struct maker *m, uint32_t p)
{
    const struct digest *d = m->d;
    const struct digest_path *path = &d->path[p];
    double n = path->n_executions, share = n / d->n_executions, apart;

    if (share < DIGEST_RARE || share > 1 - DIGEST_RARE)
        return 0;
    apart = m->with_ns[p] / n - (d->time_ns - m->with_ns[p]) / (d->n_executions - n);
    return share * (1 - share) * apart * apart;
}

/* The same executions have them, as far as counts and times say. */
static bool is_same_split(const struct maker *m, uint32_t p, uint32_t q)
{
    double a = m->with_ns[p], b = m->with_ns[q];

    return m->d->path[p].n_executions == m->d->path[q].n_executions &&
           (a > b ? a - b : b - a) <= APART * a;
}

static void choose_optional(struct maker *m)
{
    struct digest *d = m->d;

    m->bit = mem_alloc(d->n_paths, sizeof *m->bit);
    memset(m->bit, 0xff, d->n_paths * sizeof *m->bit);
    while (d->n_optional < DIGEST_OPTIONAL) {
        uint32_t best = PATH_NONE;
        double most = 0;

        for (uint32_t p = 0; p < d->n_paths; p++) {
            bool is_known = false;

            if (explained(m, p) <= most)
                continue;
            for (uint32_t i = 0; i < d->n_optional; i++)
                is_known |= is_same_split(m, p, d->optional[i]);
            if (is_known)
                continue;
            best = p;
            most = explained(m, p);
        }
        if (best == PATH_NONE)
            return;
        m->bit[best] = d->n_optional;
        d->optional[d->n_optional++] = best;
    }
}

/* -------------------------------------------------------------------------------- parts */

/* Executions of a location come one after another: the i-th of n is in batch i B / n. */
static void make_batches(struct maker *m)
{
    const struct forest *f = m->forest;
    uint32_t begin = 0, most = 0, n;

    m->batch_of = mem_alloc(f->n_trees, sizeof *m->batch_of);
    for (uint32_t t = 0; t < f->n_trees; t++) {
        begin = t == 0 || f->location[t] != f->location[t - 1] ? t : begin;
        most = t - begin + 1 > most ? t - begin + 1 : most;
    }
    m->d->n_batches = n = most < DIGEST_BATCHES ? most : DIGEST_BATCHES;
    m->d->batch = mem_alloc(n, sizeof *m->d->batch);
    for (uint32_t t = 0; t < f->n_trees; t = begin) {
        for (begin = t; begin < f->n_trees && f->location[begin] == f->location[t];)
            begin++;
        for (uint32_t i = t; i < begin; i++)
            m->batch_of[i] = (uint32_t)((uint64_t)(i - t) * n / (begin - t));
    }
    for (uint32_t i = 0; i < n; i++)
        m->d->batch[i].path_ns = mem_alloc(m->d->n_paths, sizeof(double));
}

static struct digest_part *set_of(struct maker *m, uint32_t t)
{
    struct digest *d = m->d;
    uint32_t has = 0;

    for (uint32_t v = m->forest->first[t]; v < m->forest->first[t + 1]; v++)
        if (m->bit[m->path[v]] != PATH_NONE)
            has |= 1u << m->bit[m->path[v]];
    if (m->set_of[has] == 0) {
        m->set_of[has] = ++d->n_sets;
        d->set = mem_resize(d->set, d->n_sets, sizeof *d->set);
        d->set[d->n_sets - 1] =
            (struct digest_part){.has = has,
                                 .path_ns = mem_alloc(d->n_paths, sizeof(double)),
                                 .in_batch = mem_alloc(d->n_batches, sizeof(uint32_t)),
                                 .batch_ns = mem_alloc(d->n_batches, sizeof(double))};
    }
    return &d->set[m->set_of[has] - 1];
}

static void fill_parts(struct maker *m)
{
    const struct forest *f = m->forest;

    for (uint32_t t = 0; t < f->n_trees; t++) {
        struct digest_part *batch = &m->d->batch[m->batch_of[t]], *set = set_of(m, t);

        batch->n_executions++;
        batch->time_ns += (double)forest_own_ns(f, t);
        set->n_executions++;
        set->in_batch[m->batch_of[t]]++;
        set->batch_ns[m->batch_of[t]] += (double)forest_own_ns(f, t);
        set->time_ns += (double)forest_own_ns(f, t);
        set->off_ns += forest_off_ns(f, t);
        for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
            batch->path_ns[m->path[v]] += (double)f->exclusive_ns[v];
            set->path_ns[m->path[v]] += (double)f->exclusive_ns[v];
        }
    }
}

/* -------------------------------------------------------------------------------- ranks */

static int by_rank(const void *a, const void *b)
{
    const struct digest_rank *p = a, *q = b;

    return p->program != q->program ? order_u32(&p->program, &q->program)
                                    : order_u32(&p->rank, &q->rank);
}

static struct digest_rank *rank_of(const struct maker *m, uint32_t t)
{
    const struct location *location = &m->defs->location[m->forest->location[t]];
    struct digest_rank name = {.program = location->program, .rank = location->rank};

    return bsearch(&name, m->d->rank, m->d->n_ranks, sizeof name, by_rank);
}

/* Borders between own work and own work only move time from the one to the other. */
static void add_to_rank(const struct maker *m, uint32_t t, struct digest_rank *rank)
{
    const struct forest *f = m->forest;

    rank->n_executions++;
    rank->off_ns += forest_off_ns(f, t);
    for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
        bool is_waiting = m->d->path[m->path[v]].is_waiting;

        *(is_waiting ? &rank->wait_ns : &rank->own_ns) += (double)f->exclusive_ns[v];
        rank->off_ns += is_waiting ? forest_call_off_ns(f, v) : 0;
    }
}

static void find_ranks(struct maker *m)
{
    const struct forest *f = m->forest;
    struct digest *d = m->d;
    uint32_t n = 0;

    d->rank = mem_alloc(m->defs->n_locations, sizeof *d->rank);
    for (uint32_t t = 0; t < f->n_trees; t++)
        if (t == 0 || f->location[t] != f->location[t - 1]) {
            const struct location *location = &m->defs->location[f->location[t]];

            d->rank[n++] =
                (struct digest_rank){.program = location->program, .rank = location->rank};
        }
    d->n_locations = n;
    qsort(d->rank, n, sizeof *d->rank, by_rank);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || by_rank(&d->rank[i], &d->rank[d->n_ranks - 1]) != 0)
            d->rank[d->n_ranks++] = d->rank[i];
    for (uint32_t t = 0; t < f->n_trees; t++)
        add_to_rank(m, t, rank_of(m, t));
}

/* ------------------------------------------------------------------------------- public */

/* The forest's regions, but for where MPI is called; NULL where the trace does not say that. */
static uint32_t *regions_wherever(const struct forest *forest, const struct definitions *defs)
{
    uint32_t *plain = mem_alloc(defs->names.n, sizeof *plain), *region = NULL;
    bool has_sites = false;

    for (uint32_t r = 0; r < defs->names.n; r++) {
        plain[r] = definitions_plain(defs, r);
        has_sites |= plain[r] != r;
    }
    if (has_sites) {
        region = mem_alloc(forest->n, sizeof *region);
        for (uint32_t v = 0; v < forest->n; v++)
            region[v] = plain[forest->region[v]];
    }
    free(plain);
    return region;
}

void digest_make(struct digest *digest, const struct forest *forest,
                 const struct definitions *defs)
{
    uint32_t *region = regions_wherever(forest, defs);
    struct forest wherever = *forest;
    struct maker m = {.d = digest, .forest = &wherever, .defs = defs};

    *digest = (struct digest){0};
    wherever.region = region ? region : forest->region;
    m.path = mem_alloc(forest->n, sizeof *m.path);
    context_number(&m.paths, &wherever, true, m.path);
    name_paths(&m);
    add_up_paths(&m);
    add_up_durations(&m);
    choose_optional(&m);
    make_batches(&m);
    fill_parts(&m);
    find_ranks(&m);
    context_release(&m.paths);
    free(m.path);
    free(m.stamp);
    free(m.with_ns);
    free(m.batch_of);
    free(m.bit);
    free(region);
}

void digest_add_function(struct digest *d, const char *name,
                         const struct digest_function *function)
{
    uint32_t n_known = d->names.n, id = add_name(&d->names, name);
    struct digest_function *own = NULL;

    for (uint32_t i = 0; i < d->n_functions && id < n_known; i++)
        if (d->function[i].name == id)
            own = &d->function[i];
    if (own == NULL) {
        mem_grow(&d->function, &d->function_cap, (size_t)d->n_functions + 1,
                 sizeof *d->function);
        own = &d->function[d->n_functions++];
        *own = (struct digest_function){.name = id};
    }
    own->n_calls += function->n_calls;
    own->own_ns += function->own_ns;
    own->critical_ns += function->critical_ns;
    if (function->n_locations > own->n_locations)
        own->n_locations = function->n_locations;
}

const char *const digest_fact_key[N_DIGEST_FACTS] = {
    [FACT_COMMAND] = "Command Line", [FACT_NODES] = "node",
    [FACT_PLATFORM] = "platform",    [FACT_COMPILER] = "Compiler",
    [FACT_MPI] = "MPI Library",      [FACT_OPENMP_THREADS] = "OMP_NUM_THREADS",
    [FACT_TRACER] = "Recorded By",
};

void digest_release(struct digest *d)
{
    for (int i = 0; i < N_DIGEST_FACTS; i++)
        free(d->fact[i]);
    for (uint32_t i = 0; i < d->n_batches; i++)
        free(d->batch[i].path_ns);
    for (uint32_t i = 0; i < d->n_sets; i++) {
        free(d->set[i].path_ns);
        free(d->set[i].in_batch);
        free(d->set[i].batch_ns);
    }
    names_release(&d->names);
    free(d->path);
    free(d->batch);
    free(d->set);
    free(d->rank);
    free(d->function);
    *d = (struct digest){0};
}

const char *digest_name(const struct digest *digest, const char *said)
{
    struct arena arena = {0};
    const char *found = NULL;

    for (uint32_t i = 0; i < digest->names.n && found == NULL; i++)
        if (strcmp(digest->names.name[i], said) == 0)
            found = digest->names.name[i];
    for (uint32_t i = 0; i < digest->names.n && found == NULL; i++)
        if (strcmp(region_name_short(digest->names.name[i], &arena), said) == 0)
            found = digest->names.name[i];
    arena_release(&arena);
    return found;
}
