/* The model is the one that was kept; everything else is made of the columns again. */
#include "analysis/run_scoring.h"

#include "analysis/foi_settings.h"
#include "analysis/model_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "replay/run_view.h"
#include "run/rundb.h"

#include <stdlib.h>

/* Locations are dealt out to threads, first to be checked and counted, then to be copied. */
struct collecting {
    const struct columns *columns;
    const struct definitions *defs;
    uint32_t region;
    const uint32_t *location; /* [n] ascending; NULL: the first n */
    uint32_t n;
    struct forest_size *size; /* [n] */
    struct forest *part;      /* [n] */
    bool *is_bad;             /* [n] */
};

static uint32_t location_at(const struct collecting *c, size_t i)
{
    return c->location ? c->location[i] : (uint32_t)i;
}

static void count_locations(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct collecting *c = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        uint32_t l = location_at(c, i);
        struct call_view calls = columns_view(c->columns, l);

        c->is_bad[i] = columns_check(c->columns, l, c->defs) < 0;
        if (!c->is_bad[i])
            c->size[i] = forest_count(&calls, c->region, c->defs);
        columns_drop(c->columns);
    }
}

static void copy_locations(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct collecting *c = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct call_view calls = columns_view(c->columns, location_at(c, i));

        forest_fill(&c->part[i], location_at(c, i), &calls, c->region, c->defs);
        columns_drop(c->columns);
    }
}

/* The error of the first location that has one, as it is of the thread that found it. */
static int check_all(const struct collecting *c)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < c->n; i++)
        if (c->is_bad[i])
            rc = columns_check(c->columns, location_at(c, i), c->defs);
    return rc;
}

int run_scoring_collect_part(struct scoring *s, const struct columns *columns,
                             const struct definitions *defs, uint32_t region,
                             const uint32_t *location, uint32_t n)
{
    struct collecting c = {.columns = columns,
                           .defs = defs,
                           .region = region,
                           .location = location,
                           .n = n,
                           .size = mem_alloc(n, sizeof *c.size),
                           .part = mem_alloc(n, sizeof *c.part),
                           .is_bad = mem_alloc(n, sizeof *c.is_bad)};
    int rc;

    s->defs = defs;
    run_view_init(&s->view, columns, defs);
    s->forest.paged = s->paged;
    pool_for(s->pool, n, 1, count_locations, &c);
    rc = check_all(&c);
    if (rc == 0)
        rc = forest_divide(&s->forest, c.size, n, c.part);
    if (rc == 0) {
        pool_for(s->pool, n, 1, copy_locations, &c);
        forest_unite(&s->forest, c.part, n);
    }
    free(c.size);
    free(c.part);
    free(c.is_bad);
    return rc;
}

int run_scoring_collect(struct scoring *s, const struct columns *columns,
                        const struct definitions *defs, uint32_t region)
{
    int rc = run_scoring_collect_part(s, columns, defs, region, NULL, columns->n_locations);

    if (rc == 0 && s->forest.n_trees == 0)
        rc = err_set(ERR_NOT_FOUND, "'%s' is never called", defs->region[region].name);
    return rc;
}

/* Which region a function of interest is, and how many executions it is to have. */
static int find_foi(sqlite3 *db, const struct definitions *defs, int64_t foi, uint32_t *region,
                    int64_t *n_trees)
{
    sqlite3_stmt *query;
    int64_t found = -1;
    int rc = rundb_prepare(db, "SELECT region, trees FROM foi WHERE id = ?", &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        found = sqlite3_column_int64(query, 0);
        *n_trees = sqlite3_column_int64(query, 1);
    }
    sqlite3_finalize(query);
    if (rc == 0 && (found < 0 || found >= defs->names.n))
        rc = err_set(ERR_FORMAT, "damaged run: a function of interest is no region of it");
    if (rc == 0)
        *region = (uint32_t)found;
    return rc;
}

int run_scoring_region(sqlite3 *db, const struct definitions *defs, int64_t foi,
                       uint32_t *region)
{
    int64_t n_trees;

    return find_foi(db, defs, foi, region, &n_trees);
}

/* The run's settings, but for what was said. */
static int load_opts(struct scoring *s, sqlite3 *db, int64_t foi)
{
    struct stack2vec_opts said = s->embedding.opts;
    struct foi_settings settings;
    int rc = foi_settings_load(db, foi, &settings);

    if (rc == 0)
        s->embedding.opts = settings.learnt.embedding;
    stack2vec_override(&s->embedding.opts, &said);
    return rc;
}

int run_scoring_load(struct scoring *s, sqlite3 *db, const struct columns *columns,
                     const struct definitions *defs, int64_t foi, bool with_bags)
{
    int64_t n_trees = 0;
    uint32_t region = 0;
    int rc = load_opts(s, db, foi);

    if (rc == 0)
        rc = find_foi(db, defs, foi, &region, &n_trees);
    if (rc == 0)
        rc = run_scoring_collect(s, columns, defs, region);
    if (rc == 0 && s->forest.n_trees != n_trees)
        rc = err_set(ERR_FORMAT, "damaged run: '%s' has %u executions, not the %lld noted",
                     defs->region[region].name, s->forest.n_trees, (long long)n_trees);
    if (rc == 0)
        rc = model_store_load(db, foi, defs->names.n, &s->model);
    if (rc == 0 && with_bags)
        rc = model_store_load_embedding(db, foi, &s->embedding);
    if (rc == 0)
        scoring_measure(s, with_bags);
    return rc;
}
