/* The same steps whether the model is learnt or read; only who fills in the places differs. */
#include "analysis/work.h"

#include "analysis/foi_settings.h"
#include "analysis/model_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "run/rundb.h"

#include <stdlib.h>

void work_release(struct work *w)
{
    forest_release(&w->forest);
    wl_release(&w->wl);
    residual_release(&w->model);
    residual_place_release(&w->place);
    residual_scores_release(&w->residual);
    yardstick_release(&w->yardstick);
    stack2vec_release(&w->embedding);
    free(w->measure);
    *w = (struct work){0};
}

int work_forest(struct work *w, const struct columns *columns, const struct definitions *defs,
                uint32_t region)
{
    int rc = 0;

    w->defs = defs;
    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++) {
        struct call_view calls = columns_view(columns, l);

        rc = columns_check(columns, l, defs);
        if (rc == 0)
            rc = forest_add(&w->forest, l, &calls, region);
        columns_drop(columns);
    }
    if (rc == 0 && w->forest.n_trees == 0)
        rc = err_set(ERR_NOT_FOUND, "'%s' is never called", defs->region[region].name);
    return rc;
}

/* is_own: the trees are compared with each other, not with those of another run. */
static void measure(struct work *w, bool is_own)
{
    w->measure = mem_alloc(w->forest.n_trees, sizeof *w->measure);
    residual_measures(&w->model, &w->place, &w->forest, w->measure);
    if (is_own)
        yardstick_fit(&w->yardstick, w->measure, w->forest.n_trees);
    residual_score(&w->yardstick, is_own, w->measure, w->forest.n_trees, &w->residual);
}

void work_fit(struct work *w, bool with_bags)
{
    wl_init(&w->wl, &w->forest, w->defs, with_bags);
    residual_fit(&w->model, &w->place, &w->forest, &w->wl.vocab, w->wl.complete, w->defs);
    measure(w, true);
}

static void count_unseen(const struct work *w, struct work_unseen *unseen)
{
    *unseen = (struct work_unseen){0};
    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        uint64_t n_before = unseen->n_calls;

        for (uint32_t v = w->forest.first[t]; v < w->forest.first[t + 1]; v++)
            unseen->n_calls += w->place.path[v] == PATH_NONE;
        unseen->n_trees += unseen->n_calls > n_before;
    }
}

void work_apply(struct work *w, struct residual_model *model, struct yardstick *yardstick,
                bool with_bags, struct work_unseen *unseen)
{
    w->model = *model;
    w->yardstick = *yardstick;
    *model = (struct residual_model){0};
    *yardstick = (struct yardstick){0};
    wl_init(&w->wl, &w->forest, w->defs, with_bags);
    residual_locate(&w->model, &w->place, &w->forest, &w->wl.vocab, w->wl.complete, w->defs);
    measure(w, false);
    count_unseen(w, unseen);
}

/* Which region a function of interest is, and how many executions it is to have. */
static int find_foi(sqlite3 *db, int64_t foi, int64_t *region, int64_t *n_trees)
{
    sqlite3_stmt *query;
    int rc = rundb_prepare(db, "SELECT region, trees FROM foi WHERE id = ?", &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        *region = sqlite3_column_int64(query, 0);
        *n_trees = sqlite3_column_int64(query, 1);
    }
    sqlite3_finalize(query);
    return rc;
}

/* The run's settings, but for what was said. */
static int load_opts(struct work *w, sqlite3 *db, int64_t foi)
{
    struct stack2vec_opts said = w->embedding.opts;
    struct foi_settings settings;
    int rc = foi_settings_load(db, foi, &settings);

    if (rc == 0)
        w->embedding.opts = settings.learnt.embedding;
    stack2vec_override(&w->embedding.opts, &said);
    return rc;
}

int work_load(struct work *w, sqlite3 *db, const struct columns *columns,
              const struct definitions *defs, int64_t foi, bool with_bags)
{
    int64_t region = 0, n_trees = 0;
    int rc = load_opts(w, db, foi);

    if (rc == 0)
        rc = find_foi(db, foi, &region, &n_trees);
    if (rc == 0 && (region < 0 || region >= defs->names.n))
        rc = err_set(ERR_FORMAT, "damaged run: a function of interest is no region of it");
    if (rc == 0)
        rc = work_forest(w, columns, defs, (uint32_t)region);
    if (rc == 0 && w->forest.n_trees != n_trees)
        rc = err_set(ERR_FORMAT, "damaged run: '%s' has %u executions, not the %lld noted",
                     defs->region[region].name, w->forest.n_trees, (long long)n_trees);
    if (rc == 0)
        rc = model_store_load(db, foi, defs->names.n, &w->model);
    if (rc == 0 && with_bags)
        rc = model_store_load_embedding(db, foi, &w->embedding);
    if (rc < 0)
        return rc;
    wl_init(&w->wl, &w->forest, defs, with_bags);
    residual_locate(&w->model, &w->place, &w->forest, &w->wl.vocab, w->wl.complete, defs);
    measure(w, true);
    return 0;
}

struct feature_input work_input(struct work *w, struct pool *pool)
{
    return (struct feature_input){.forest = &w->forest,
                                  .defs = w->defs,
                                  .wl = &w->wl,
                                  .model = &w->model,
                                  .place = &w->place,
                                  .pool = pool,
                                  .embedding = &w->embedding,
                                  .unseen = &w->unseen};
}

int work_matrix(struct work *w, const struct feature_ops *ops, struct pool *pool,
                struct matrix *x)
{
    struct feature_input input = work_input(w, pool);
    bool has_embedding = w->embedding.n_words > 0;
    int rc = feature_matrix(ops, &input, x);

    w->is_embedding_new |= !has_embedding && w->embedding.n_words > 0;
    return rc;
}
