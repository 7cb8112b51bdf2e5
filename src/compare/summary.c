/*
 * Two passes over the vertices: the first says what paths there are and which executions have
 * them, the second fills the batches and the sets.
 *
 * All sums are of whole nanoseconds and added up as such, so that they are the same in any
 * order: of several processes each sums its own executions, and tree_share_add does the rest.
 * What depends on an order, numbers of paths and of sets, follows that of locations.
 *
 * Of a finished run the executions are read from its columns, and what is known of the whole
 * run (functions, facts) from its tables.
 */
#include "compare/summary.h"

#include "analysis/analysis.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "explain/waiting.h"
#include "features/context.h"
#include "features/robust.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "trace/region_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_HAS (1u << SUMMARY_OPTIONAL)
#define APART 1e-6 /* of their times, to hold two paths for those of different executions */

static const double quantiles[SUMMARY_QUANTILES] = {0.5, 0.95, 0.99};

struct summary_maker {
    struct summary *d;
    const struct forest *forest;
    const struct definitions *defs;
    const struct tree_share *share; /* NULL: all executions are in the forest */
    struct context paths;
    uint32_t *path;             /* [vertices] */
    struct path_sum *sum;       /* [paths] */
    uint32_t *batch_of;         /* [trees] */
    uint32_t *bit;              /* [paths] its number among the optional ones, or PATH_NONE */
    uint32_t *has;              /* [trees] bits of the optional paths that it has */
    uint32_t set_of[N_HAS];     /* of these bits */
    uint64_t first_with[N_HAS]; /* where the first execution is that has them */
};

/* Of all executions. */
struct path_sum {
    uint64_t n_calls, n_executions, time_ns, off_ns;
    uint64_t with_ns; /* durations of the executions that have it */
};

static void add_up(const struct summary_maker *m, void *sums, size_t bytes)
{
    tree_share_add(m->share, sums, bytes / sizeof(uint64_t), sizeof(uint64_t),
                   tree_share_sum_u64);
}

/* -------------------------------------------------------------------------------- paths */

/* Where each number was given. */
static struct first_seen *find_first(const struct summary_maker *m)
{
    const struct forest *f = m->forest;
    struct first_seen *seen = mem_resize(NULL, m->paths.n, sizeof *seen);
    uint32_t n = 0;

    for (uint32_t t = 0; t < f->n_trees; t++)
        for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++)
            if (m->path[v] == n)
                seen[n++] = (struct first_seen){f->location[t], f->index[t], v - f->first[t]};
    return seen;
}

static void number_paths(struct summary_maker *m)
{
    struct first_seen *seen;
    uint32_t *to;

    m->path = mem_alloc(m->forest->n, sizeof *m->path);
    context_number(&m->paths, m->forest, true, m->path);
    if (m->share == NULL)
        return;
    seen = find_first(m);
    to = mem_resize(NULL, m->paths.n, sizeof *to);
    context_unite(&m->paths, m->share, seen, to);
    numbering_apply(to, m->path, m->forest->n);
    free(seen);
    free(to);
}

static void name_paths(struct summary_maker *m)
{
    struct summary *d = m->d;

    d->n_paths = m->paths.n;
    d->path = mem_alloc(d->n_paths, sizeof *d->path);
    for (uint32_t p = 0; p < d->n_paths; p++) {
        const struct region *region = &m->defs->region[m->paths.region[p]];

        d->path[p].parent = m->paths.parent[p];
        d->path[p].name = names_add(&d->names, region->identity);
        d->path[p].is_waiting = waiting_is_likely(region);
    }
    d->foi = d->path[0].name;
}

static void add_up_vertices(const struct summary_maker *m, uint32_t t, uint32_t *stamp)
{
    const struct forest *f = m->forest;

    for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
        struct path_sum *sum = &m->sum[m->path[v]];

        sum->n_calls++;
        sum->time_ns += f->exclusive_ns[v];
        sum->off_ns += (uint64_t)forest_call_off_ns(f, v);
        if (stamp[m->path[v]] == t + 1)
            continue;
        stamp[m->path[v]] = t + 1;
        sum->with_ns += forest_own_ns(f, t);
        sum->n_executions++;
    }
}

static void add_up_paths(struct summary_maker *m)
{
    struct summary *d = m->d;
    uint32_t *stamp = mem_alloc(d->n_paths, sizeof *stamp); /* last tree that had it, + 1 */

    m->sum = mem_alloc(d->n_paths, sizeof *m->sum);
    for (uint32_t t = 0; t < m->forest->n_trees; t++)
        add_up_vertices(m, t, stamp);
    add_up(m, m->sum, d->n_paths * sizeof *m->sum);
    for (uint32_t p = 0; p < d->n_paths; p++) {
        d->path[p].n_calls = m->sum[p].n_calls;
        d->path[p].n_executions = (uint32_t)m->sum[p].n_executions;
        d->path[p].time_ns = (double)m->sum[p].time_ns;
        d->path[p].off_ns = (double)m->sum[p].off_ns;
    }
    free(stamp);
}

static void add_up_durations(struct summary_maker *m)
{
    struct summary *d = m->d;
    uint32_t n = m->forest->n_trees;
    double *x = mem_resize(NULL, n, sizeof *x);
    struct {
        uint64_t time_ns, off_ns;
    } sum = {0};

    for (uint32_t t = 0; t < n; t++) {
        x[t] = (double)forest_own_ns(m->forest, t);
        sum.time_ns += forest_own_ns(m->forest, t);
        sum.off_ns += (uint64_t)forest_off_ns(m->forest, t);
    }
    add_up(m, &sum, sizeof sum);
    d->n_executions = m->share ? m->share->n_all : n;
    d->time_ns = (double)sum.time_ns;
    d->off_ns = (double)sum.off_ns;
    x = tree_share_take(m->share, x, sizeof *x);
    for (uint32_t i = 0; x && i < SUMMARY_QUANTILES; i++)
        d->duration_ns[i] = robust_quantile(x, d->n_executions, quantiles[i]);
    tree_share_tell(m->share, d->duration_ns, sizeof d->duration_ns);
    free(x);
}

/* ----------------------------------------------------------------------- optional paths */

/* How much of the variance of durations it explains that some executions have the path; 0 where
 * they do not differ by it. */
static double explained(const struct summary_maker *m, uint32_t p)
{
    const struct summary *d = m->d;
    const struct summary_path *path = &d->path[p];
    double n = path->n_executions, share = n / d->n_executions, with_ns, apart;

    if (share < SUMMARY_RARE || share > 1 - SUMMARY_RARE)
        return 0;
    with_ns = (double)m->sum[p].with_ns;
    apart = with_ns / n - (d->time_ns - with_ns) / (d->n_executions - n);
    return share * (1 - share) * apart * apart;
}

/* The same executions have them, as far as counts and times say. */
static bool is_same_split(const struct summary_maker *m, uint32_t p, uint32_t q)
{
    double a = (double)m->sum[p].with_ns, b = (double)m->sum[q].with_ns;

    return m->d->path[p].n_executions == m->d->path[q].n_executions &&
           (a > b ? a - b : b - a) <= APART * a;
}

static void choose_optional(struct summary_maker *m)
{
    struct summary *d = m->d;

    m->bit = mem_alloc(d->n_paths, sizeof *m->bit);
    memset(m->bit, 0xff, d->n_paths * sizeof *m->bit);
    while (d->n_optional < SUMMARY_OPTIONAL) {
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

static uint32_t most_of_a_location(const struct summary_maker *m)
{
    const struct forest *f = m->forest;
    uint32_t most = 0;

    for (uint32_t l = 0; m->share && l < m->share->n_locations; l++)
        most = m->share->n_trees[l] > most ? m->share->n_trees[l] : most;
    for (uint32_t t = 0; m->share == NULL && t < f->n_trees; t++)
        most = f->index[t] + 1 > most ? f->index[t] + 1 : most;
    return most;
}

/* Executions of a location come one after another: the i-th of n is in batch i B / n. */
static void make_batches(struct summary_maker *m)
{
    const struct forest *f = m->forest;
    uint32_t most = most_of_a_location(m), n;

    m->batch_of = mem_alloc(f->n_trees, sizeof *m->batch_of);
    m->d->n_batches = n = most < SUMMARY_BATCHES ? most : SUMMARY_BATCHES;
    m->d->batch = mem_alloc(n, sizeof *m->d->batch);
    for (uint32_t t = 0, end; t < f->n_trees; t = end) {
        end = forest_location_end(f, t);
        for (uint32_t i = t; i < end; i++)
            m->batch_of[i] = (uint32_t)((uint64_t)(i - t) * n / (end - t));
    }
    for (uint32_t i = 0; i < n; i++)
        m->d->batch[i].path_ns = mem_alloc(m->d->n_paths, sizeof(double));
}

static void take_first(void *into, const void *from, size_t n)
{
    uint64_t *to = into;
    const uint64_t *other = from;

    for (size_t i = 0; i < n; i++)
        to[i] = other[i] < to[i] ? other[i] : to[i];
}

static int by_first(const void *a, const void *b, void *ctx)
{
    const struct summary_maker *m = ctx;
    const struct summary_part *p = a, *q = b;

    return ORDER(m->first_with[p->has], m->first_with[q->has]);
}

static uint32_t optional_paths_of(const struct summary_maker *m, uint32_t t)
{
    uint32_t has = 0;

    for (uint32_t v = m->forest->first[t]; v < m->forest->first[t + 1]; v++)
        if (m->bit[m->path[v]] != PATH_NONE)
            has |= 1u << m->bit[m->path[v]];
    return has;
}

/* In the order of the first execution of each. */
static void make_sets(struct summary_maker *m)
{
    const struct forest *f = m->forest;
    struct summary *d = m->d;

    m->has = mem_alloc(f->n_trees, sizeof *m->has);
    memset(m->first_with, 0xff, sizeof m->first_with);
    for (uint32_t t = 0; t < f->n_trees; t++) {
        uint64_t place = (uint64_t)f->location[t] << 32 | f->index[t];

        m->has[t] = optional_paths_of(m, t);
        take_first(&m->first_with[m->has[t]], &place, 1);
    }
    tree_share_add(m->share, m->first_with, N_HAS, sizeof *m->first_with, take_first);
    d->set = mem_alloc(N_HAS, sizeof *d->set);
    for (uint32_t has = 0; has < N_HAS; has++)
        if (m->first_with[has] != UINT64_MAX)
            d->set[d->n_sets++] =
                (struct summary_part){.has = has,
                                      .path_ns = mem_alloc(d->n_paths, sizeof(double)),
                                      .in_batch = mem_alloc(d->n_batches, sizeof(uint32_t)),
                                      .batch_ns = mem_alloc(d->n_batches, sizeof(double))};
    qsort_r(d->set, d->n_sets, sizeof *d->set, by_first, m);
    for (uint32_t i = 0; i < d->n_sets; i++)
        m->set_of[d->set[i].has] = i;
}

/*
 * What is summed of batches and sets, a row of numbers each, rows one after the other:
 *
 *     executions  time_ns  off_ns  in_batch [batches]  batch_ns [batches]  path_ns [paths]
 */
struct part_rows {
    uint64_t *number;
    size_t width, n_batches;
};

static struct part_rows rows_for(const struct summary *d, uint32_t n)
{
    struct part_rows rows = {.n_batches = d->n_batches,
                             .width = 3 + 2 * (size_t)d->n_batches + d->n_paths};

    rows.number = mem_alloc(n * rows.width, sizeof *rows.number);
    return rows;
}

static void add_tree(const struct summary_maker *m, uint32_t t, const struct part_rows *rows,
                     uint32_t row)
{
    const struct forest *f = m->forest;
    uint64_t *to = rows->number + row * rows->width;

    to[0]++;
    to[1] += forest_own_ns(f, t);
    to[2] += (uint64_t)forest_off_ns(f, t);
    to += 3;
    to[m->batch_of[t]]++;
    to += rows->n_batches;
    to[m->batch_of[t]] += forest_own_ns(f, t);
    to += rows->n_batches;
    for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++)
        to[m->path[v]] += f->exclusive_ns[v];
}

static void fill_part(const struct summary *d, const struct part_rows *rows, uint32_t row,
                      struct summary_part *part)
{
    const uint64_t *from = rows->number + row * rows->width;

    part->n_executions = (uint32_t)from[0];
    part->time_ns = (double)from[1];
    part->off_ns = part->in_batch ? (double)from[2] : 0; /* of sets */
    from += 3;
    for (uint32_t i = 0; part->in_batch && i < d->n_batches; i++) {
        part->in_batch[i] = (uint32_t)from[i];
        part->batch_ns[i] = (double)from[rows->n_batches + i];
    }
    from += 2 * rows->n_batches;
    for (uint32_t p = 0; p < d->n_paths; p++)
        part->path_ns[p] = (double)from[p];
}

static void fill_parts(const struct summary_maker *m, const uint32_t *part_of,
                       struct summary_part *part, uint32_t n)
{
    struct part_rows rows = rows_for(m->d, n);

    for (uint32_t t = 0; t < m->forest->n_trees; t++)
        add_tree(m, t, &rows, part_of ? part_of[t] : m->set_of[m->has[t]]);
    add_up(m, rows.number, n * rows.width * sizeof *rows.number);
    for (uint32_t i = 0; i < n; i++)
        fill_part(m->d, &rows, i, &part[i]);
    free(rows.number);
}

/* -------------------------------------------------------------------------------- ranks */

static int by_rank(const void *a, const void *b)
{
    const struct summary_rank *p = a, *q = b;

    return ORDER(p->program, q->program) ?: ORDER(p->rank, q->rank);
}

static uint32_t rank_of(const struct summary_maker *m, uint32_t t)
{
    const struct location *location = &m->defs->location[m->forest->location[t]];
    struct summary_rank name = {.program = location->program, .rank = location->rank};
    const struct summary_rank *found =
        bsearch(&name, m->d->rank, m->d->n_ranks, sizeof name, by_rank);

    return (uint32_t)(found - m->d->rank);
}

struct rank_sum {
    uint64_t n_executions, own_ns, wait_ns, off_ns;
};

/* Borders between own work and own work only move time from the one to the other. */
static void add_to_rank(const struct summary_maker *m, uint32_t t, struct rank_sum *rank)
{
    const struct forest *f = m->forest;

    rank->n_executions++;
    rank->off_ns += (uint64_t)forest_off_ns(f, t);
    for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
        bool is_waiting = m->d->path[m->path[v]].is_waiting;

        *(is_waiting ? &rank->wait_ns : &rank->own_ns) += f->exclusive_ns[v];
        rank->off_ns += is_waiting ? (uint64_t)forest_call_off_ns(f, v) : 0;
    }
}

static void add_up_ranks(struct summary_maker *m)
{
    struct summary *d = m->d;
    struct rank_sum *sum = mem_alloc(d->n_ranks, sizeof *sum);

    for (uint32_t t = 0; t < m->forest->n_trees; t++)
        add_to_rank(m, t, &sum[rank_of(m, t)]);
    add_up(m, sum, d->n_ranks * sizeof *sum);
    for (uint32_t i = 0; i < d->n_ranks; i++) {
        d->rank[i].n_executions = (uint32_t)sum[i].n_executions;
        d->rank[i].own_ns = (double)sum[i].own_ns;
        d->rank[i].wait_ns = (double)sum[i].wait_ns;
        d->rank[i].off_ns = (double)sum[i].off_ns;
    }
    free(sum);
}

/* Whether there are executions on each location: [locations]. */
static bool *find_locations(const struct summary_maker *m)
{
    bool *has_any = mem_alloc(m->defs->n_locations, sizeof *has_any);

    for (uint32_t l = 0; m->share && l < m->share->n_locations; l++)
        has_any[l] = m->share->n_trees[l] > 0;
    for (uint32_t t = 0; m->share == NULL && t < m->forest->n_trees; t++)
        has_any[m->forest->location[t]] = true;
    return has_any;
}

static void find_ranks(struct summary_maker *m)
{
    struct summary *d = m->d;
    bool *has_any = find_locations(m);
    uint32_t n = 0;

    d->rank = mem_alloc(m->defs->n_locations, sizeof *d->rank);
    for (uint32_t l = 0; l < m->defs->n_locations; l++)
        if (has_any[l])
            d->rank[n++] = (struct summary_rank){.program = m->defs->location[l].program,
                                                 .rank = m->defs->location[l].rank};
    d->n_locations = n;
    qsort(d->rank, n, sizeof *d->rank, by_rank);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || by_rank(&d->rank[i], &d->rank[d->n_ranks - 1]) != 0)
            d->rank[d->n_ranks++] = d->rank[i];
    free(has_any);
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

void summary_make(struct summary *summary, const struct forest *forest,
                  const struct definitions *defs, const struct tree_share *share)
{
    uint32_t *region = regions_wherever(forest, defs);
    struct forest wherever = *forest;
    struct summary_maker m = {.d = summary, .forest = &wherever, .defs = defs, .share = share};

    *summary = (struct summary){0};
    wherever.region = region ? region : forest->region;
    number_paths(&m);
    name_paths(&m);
    add_up_paths(&m);
    add_up_durations(&m);
    choose_optional(&m);
    make_batches(&m);
    make_sets(&m);
    fill_parts(&m, m.batch_of, summary->batch, summary->n_batches);
    fill_parts(&m, NULL, summary->set, summary->n_sets);
    find_ranks(&m);
    add_up_ranks(&m);
    context_release(&m.paths);
    free(m.path);
    free(m.sum);
    free(m.batch_of);
    free(m.bit);
    free(m.has);
    free(region);
}

void summary_add_function(struct summary *d, const char *name,
                          const struct summary_function *function)
{
    struct arena arena = {0};
    uint32_t n_known = d->names.n;
    uint32_t id = names_add(&d->names, region_name_identity(name, &arena));
    struct summary_function *own = NULL;

    for (uint32_t i = 0; i < d->n_functions && id < n_known; i++)
        if (d->function[i].name == id)
            own = &d->function[i];
    if (own == NULL) {
        own = mem_push(&d->function, &d->n_functions, &d->function_cap);
        *own = (struct summary_function){.name = id};
    }
    own->n_calls += function->n_calls;
    own->own_ns += function->own_ns;
    own->critical_ns += function->critical_ns;
    if (function->n_locations > own->n_locations)
        own->n_locations = function->n_locations;
    arena_release(&arena);
}

const char *const summary_fact_key[N_DIGEST_FACTS] = {
    [FACT_COMMAND] = "Command Line", [FACT_NODES] = "node",
    [FACT_PLATFORM] = "platform",    [FACT_COMPILER] = "Compiler",
    [FACT_MPI] = "MPI Library",      [FACT_OPENMP_THREADS] = "OMP_NUM_THREADS",
    [FACT_TRACER] = "Recorded By",
};

void summary_release(struct summary *d)
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
    *d = (struct summary){0};
}

const char *summary_name(const struct summary *summary, const char *said)
{
    struct arena arena = {0};
    const char *found = NULL;

    for (uint32_t i = 0; i < summary->names.n && found == NULL; i++)
        if (strcmp(summary->names.name[i], said) == 0)
            found = summary->names.name[i];
    for (uint32_t i = 0; i < summary->names.n && found == NULL; i++)
        if (strcmp(region_name_short(summary->names.name[i], &arena), said) == 0)
            found = summary->names.name[i];
    arena_release(&arena);
    return found;
}

/* ----------------------------------------------------------------------- of a finished run */

/* What each function that was called did in the whole run, however little: which of them matter
 * is known where all runs that are compared are. */
static int load_functions(struct summary *summary, const struct run *run)
{
    sqlite3_stmt *row;
    int rc = rundb_prepare(
        run->db,
        "SELECT name, calls, exclusive_ns, locations, critical_ns FROM region WHERE "
        "kind NOT IN ('tracer', 'loop') AND calls > 0 ORDER BY id",
        &row);

    if (rc < 0)
        return rc;
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        struct summary_function function = {
            .n_calls = (uint64_t)sqlite3_column_int64(row, 1),
            .own_ns = (double)sqlite3_column_int64(row, 2),
            .n_locations = (uint32_t)sqlite3_column_int64(row, 3),
            .critical_ns = (double)sqlite3_column_int64(row, 4)};

        if (name && *name && function.own_ns >= 0 && function.critical_ns >= 0)
            summary_add_function(summary, name, &function);
    }
    sqlite3_finalize(row);
    summary->has_all_functions = true;
    summary->run_ns =
        (double)rundb_get(run->db, "end_ns") - (double)rundb_get(run->db, "begin_ns");
    return 0;
}

static int load_facts(struct summary *summary, const struct run *run)
{
    struct run_metadata metadata;
    char nodes[SUMMARY_FACT_BYTES];
    int rc = run_metadata_load(&metadata, run->db);

    run_metadata_join(&metadata, METADATA_NODE, nodes, sizeof nodes);
    for (int f = 0; rc == 0 && f < N_DIGEST_FACTS; f++) {
        const char *value =
            f == FACT_NODES ? nodes : run_metadata_get(&metadata, summary_fact_key[f]);

        summary->fact[f] = value && *value ? mem_copy_string(value) : NULL;
    }
    run_metadata_release(&metadata);
    return rc;
}

/* Each process the executions of its own locations. */
static int collect_part(struct scoring *s, const struct run *run, uint32_t region,
                        struct tree_share *share)
{
    int rc = run_scoring_collect_part(s, &run->columns, &run->defs, region, share->mine,
                                      share->n_mine);

    rc = process_group_agree(share->process_group, rc);
    if (rc < 0)
        return rc;
    tree_share_count(share, &s->forest);
    return share->n_all > 0
               ? 0
               : err_set(ERR_NOT_FOUND, "'%s' is never called", run->defs.region[region].name);
}

static int summary_part(struct summary *summary, const struct run *run, uint32_t region,
                        struct process_group *process_group)
{
    struct tree_share share;
    struct scoring s = {0};
    int rc;

    analysis_process_group_deal(&share, process_group, &run->columns, &run->defs);
    rc = collect_part(&s, run, region, &share);
    if (rc == 0) {
        summary_make(summary, &s.forest, &run->defs, &share);
        analysis_process_group_report(process_group, "compare", &s.forest, 0);
    }
    scoring_release(&s);
    tree_share_release(&share);
    return rc;
}

static int summary_all(struct summary *summary, const struct run *run, uint32_t region)
{
    struct scoring s = {0};
    int rc = run_scoring_collect(&s, &run->columns, &run->defs, region);

    if (rc == 0)
        summary_make(summary, &s.forest, &run->defs, NULL);
    scoring_release(&s);
    return rc;
}

int summary_of_run_load(struct summary *summary, const struct run *run, int64_t foi,
                        struct process_group *process_group, int rc)
{
    uint32_t region = 0;

    *summary = (struct summary){0};
    if (rc == 0)
        rc = run_scoring_region(run->db, &run->defs, foi, &region);
    rc = process_group_agree(process_group, rc);
    if (rc == 0)
        rc = process_group ? summary_part(summary, run, region, process_group)
                           : summary_all(summary, run, region);
    if (rc < 0)
        return rc;
    rc = load_functions(summary, run);
    if (rc == 0)
        rc = load_facts(summary, run);
    return process_group_agree(process_group, rc);
}
