/* The model is the one that was kept; everything else is made of the columns again. */
#include "analysis/run_scoring.h"

#include "analysis/foi_settings.h"
#include "analysis/model_store.h"
#include "base/err.h"
#include "run/rundb.h"

int run_scoring_collect(struct scoring *s, const struct columns *columns,
                        const struct definitions *defs, uint32_t region)
{
    int rc = 0;

    s->defs = defs;
    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++) {
        struct call_view calls = columns_view(columns, l);

        rc = columns_check(columns, l, defs);
        if (rc == 0)
            rc = forest_add(&s->forest, l, &calls, region, defs);
        columns_drop(columns);
    }
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
