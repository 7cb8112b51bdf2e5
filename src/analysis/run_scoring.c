/*
 * What a finished run knows of a function of interest is in its database: the settings, as JSON
 * that is written here by hand and read by SQLite, and the model. Everything else is made of the
 * columns again.
 */
#include "analysis/run_scoring.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/pack.h"
#include "detect/detector.h"
#include "features/features.h"
#include "features/residual.h"
#include "features/stack2vec.h"
#include "replay/what_if.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEVEL 3           /* of compression */
#define MAX_WORK 6000000u /* trees times words: some seconds */
#define MIN_WORDS 256u

/* --------------------------------------------------------------------------------- settings */

/* As short as it can be read back from. */
static const char *number(double value, char out[32])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return out;
}

/* What the texts have in common, without braces. */
static void embedding_text(const struct stack2vec_opts *o, char *out, size_t size)
{
    char rate[32], negatives[32];

    snprintf(out, size,
             "\"dimensions\": %u, \"epochs\": %u, \"learning_rate\": %s, \"negatives\": %s",
             o->dims, o->epochs, number(o->learning_rate, rate),
             number(o->negatives, negatives));
}

static void learnt_text(const struct learnt_settings *l, char *out, size_t size)
{
    char gamma[32] = "null", nu[32] = "null", embedding[160];

    if (l->gamma > 0)
        number(l->gamma, gamma);
    if (l->nu > 0)
        number(l->nu, nu);
    embedding_text(&l->embedding, embedding, sizeof embedding);
    snprintf(out, size, "\"gamma\": %s, \"nu\": %s, %s", gamma, nu, embedding);
}

static void embedding_settings(const struct stack2vec_opts *opts, char out[FOI_SETTINGS_SIZE])
{
    char text[160];

    embedding_text(opts, text, sizeof text);
    snprintf(out, FOI_SETTINGS_SIZE, "{%s}", text);
}

void learnt_settings_text(const struct learnt_settings *l, char out[FOI_SETTINGS_SIZE])
{
    char text[256];

    learnt_text(l, text, sizeof text);
    snprintf(out, FOI_SETTINGS_SIZE, "{%s}", text);
}

void foi_settings_text(const struct foi_settings *s, char out[FOI_SETTINGS_SIZE])
{
    char text[256], model[40] = "", told[50] = "";

    learnt_text(&s->learnt, text, sizeof text);
    if (isfinite(s->told_threshold)) {
        char value[32];

        number(s->told_threshold, value);
        snprintf(told, sizeof told, ", \"threshold\": %s", value);
    }
    if (s->model_executions > 0)
        snprintf(model, sizeof model, ", \"model_executions\": %u", s->model_executions);
    snprintf(out, FOI_SETTINGS_SIZE, "{\"neighbours\": %u, \"seed\": %llu, %s%s%s}",
             s->neighbours, (unsigned long long)s->seed, text, model, told);
}

int learnt_settings_of(sqlite3_stmt *query, int column, struct learnt_settings *l)
{
    struct stack2vec_opts said = {.learning_rate = sqlite3_column_double(query, column + 3),
                                  .negatives = sqlite3_column_double(query, column + 4)};
    int64_t dims = sqlite3_column_int64(query, column + 1);
    int64_t epochs = sqlite3_column_int64(query, column + 2);

    l->gamma = sqlite3_column_double(query, column);
    l->nu = sqlite3_column_double(query, column + 5);
    l->embedding = stack2vec_default();
    if (!(l->gamma >= 0 && isfinite(l->gamma)) || !(l->nu >= 0 && l->nu <= 1) || dims < 0 ||
        dims > STACK2VEC_MAX_DIMS || epochs < 0 || epochs > UINT32_MAX)
        return err_set(ERR_FORMAT, "damaged run: its settings cannot be read");
    said.dims = (uint32_t)dims;
    said.epochs = (uint32_t)epochs;
    stack2vec_override(&l->embedding, &said);
    return stack2vec_check(&l->embedding) < 0
               ? err_set(ERR_FORMAT, "damaged run: its settings cannot be read")
               : 0;
}

static int take_settings(sqlite3_stmt *query, struct foi_settings *s)
{
    int64_t model_executions = sqlite3_column_int64(query, 5);
    int rc;

    *s = (struct foi_settings){.threshold = INFINITY, .told_threshold = NAN, .seed = 1};
    snprintf(s->features, sizeof s->features, "%s", rundb_text(query, 0));
    snprintf(s->detector, sizeof s->detector, "%s", rundb_text(query, 1));
    if (sqlite3_column_type(query, 2) != SQLITE_NULL)
        s->threshold = sqlite3_column_double(query, 2);
    s->neighbours = (uint32_t)sqlite3_column_int64(query, 3);
    if (sqlite3_column_type(query, 4) != SQLITE_NULL)
        s->seed = strtoull(rundb_text(query, 4), NULL, 10);
    s->model_executions = (uint32_t)model_executions;
    if (sqlite3_column_type(query, 6) == SQLITE_FLOAT)
        s->told_threshold = sqlite3_column_double(query, 6);
    rc = learnt_settings_of(query, 7, &s->learnt);
    if (rc == 0 && (model_executions < 0 || model_executions > UINT32_MAX))
        rc = err_set(ERR_FORMAT, "damaged run: its settings cannot be read");
    if (rc == 0 && (feature_find(s->features) == NULL || detector_find(s->detector) == NULL))
        rc = err_set(
            ERR_FORMAT,
            "damaged run: this snag has no detector of the name that it was analysed with");
    s->learnt.embedding.seed = s->seed;
    return rc;
}

/* The seed as text: it may be more than SQLite's integers hold. */
int foi_settings_load(sqlite3 *db, int64_t foi, struct foi_settings *s)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query,
                         "SELECT features, detector, threshold, settings ->> '$.neighbours', "
                         "settings -> '$.seed', settings ->> '$.model_executions', "
                         "CAST(settings ->> '$.threshold' AS REAL), " LEARNT_COLUMNS
                         " FROM foi WHERE id = ?",
                         "i", foi);

    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = err_set(ERR_NOT_FOUND, "the run has no function of interest %lld", (long long)foi);
    if (rc == 0)
        rc = take_settings(query, s);
    sqlite3_finalize(query);
    return rc;
}

/* ----------------------------------------------------------------------------------- models */

/* A row holds the size before compression, which what is read back must have. */

/*
 * Keeps the bytes in a row.
 *   sql       inserts: function of interest, bytes, data, settings
 *   settings  or NULL for a statement without them
 */
static int save_packed(sqlite3 *db, const char *sql, int64_t foi, const char *settings,
                       const struct pack *pack)
{
    size_t n;
    void *packed = pack_compress(pack, LEVEL, &n);
    sqlite3_stmt *insert = NULL;
    int rc = rundb_query(db, &insert, sql, "ii", foi, (int64_t)pack->n);

    if (rc == 0 && (sqlite3_bind_blob64(insert, 3, packed, n, SQLITE_STATIC) != SQLITE_OK ||
                    (settings && sqlite3_bind_text(insert, 4, settings, -1, SQLITE_STATIC)) ||
                    sqlite3_step(insert) != SQLITE_DONE))
        rc = rundb_error(db, "cannot store the model");
    sqlite3_finalize(insert);
    free(packed);
    return rc;
}

/* The bytes in columns bytes and data of the row that the query stands on. */
static int decompress(sqlite3_stmt *query, struct pack *pack)
{
    const void *packed = sqlite3_column_blob(query, 1);
    int rc = pack_decompress(pack, packed, (size_t)sqlite3_column_bytes(query, 1),
                             (uint64_t)sqlite3_column_int64(query, 0));

    return rc < 0 ? err_set(rc, "damaged run: the model has %s", err_message()) : 0;
}

int model_store_save(sqlite3 *db, int64_t foi, const struct residual_model *model)
{
    struct pack pack = {0};
    int rc;

    residual_pack(model, &pack);
    rc = save_packed(db, "INSERT INTO model (foi, bytes, data) VALUES (?, ?, ?)", foi, NULL,
                     &pack);
    pack_release(&pack);
    return rc;
}

int model_store_load(sqlite3 *db, int64_t foi, uint32_t n_regions, struct residual_model *model)
{
    sqlite3_stmt *query = NULL;
    struct pack pack = {0};
    int rc = rundb_query(db, &query, "SELECT bytes, data FROM model WHERE foi = ?", "i", foi);

    *model = (struct residual_model){0};
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc =
            err_set(ERR_NOT_FOUND, "damaged run: it has no model of this function of interest");
    if (rc == 0)
        rc = decompress(query, &pack);
    if (rc == 0)
        rc = residual_unpack(model, &pack, n_regions);
    pack_release(&pack);
    sqlite3_finalize(query);
    return rc;
}

int model_store_save_embedding(sqlite3 *db, int64_t foi, const struct stack2vec *embedding)
{
    char settings[FOI_SETTINGS_SIZE];
    struct pack pack = {0};
    int rc;

    embedding_settings(&embedding->opts, settings);
    stack2vec_pack(embedding, &pack);
    rc = save_packed(db,
                     "INSERT OR REPLACE INTO embedding (foi, bytes, data, settings) "
                     "VALUES (?, ?, ?, ?)",
                     foi, settings, &pack);
    pack_release(&pack);
    return rc;
}

/* The one that was trained with the options in it; it stays as it is where there is none. */
static int load_embedding(sqlite3 *db, int64_t foi, struct stack2vec *embedding)
{
    const struct stack2vec_opts opts = embedding->opts;
    char settings[FOI_SETTINGS_SIZE];
    sqlite3_stmt *query = NULL;
    struct pack pack = {0};
    int rc;

    embedding_settings(&opts, settings);
    rc = rundb_query(db, &query,
                     "SELECT bytes, data FROM embedding WHERE foi = ? AND settings = ?", "it",
                     foi, settings);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        rc = decompress(query, &pack);
        if (rc == 0)
            rc = stack2vec_unpack(embedding, &pack);
        if (rc == 0 && (embedding->opts.dims != opts.dims || embedding->n_words == 0))
            rc = err_set(ERR_FORMAT,
                         "damaged run: the settings of its embedding contradict each other");
    }
    pack_release(&pack);
    sqlite3_finalize(query);
    return rc;
}

/* ----------------------------------------------------------------------------- executions */

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
    int rc = rundb_query(db, &query, "SELECT region, trees FROM foi WHERE id = ?", "i", foi);

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
        rc = err_set(ERR_FORMAT, "damaged run: '%s' has %u executions, not %lld as run.db says",
                     defs->region[region].name, s->forest.n_trees, (long long)n_trees);
    if (rc == 0)
        rc = model_store_load(db, foi, defs->names.n, &s->model);
    if (rc == 0 && with_bags)
        rc = load_embedding(db, foi, &s->embedding);
    if (rc == 0)
        scoring_measure(s, with_bags);
    return rc;
}

/* ----------------------------------------------------------------------------- top subtrees */

/* Vectors are not kept but inferred: that takes less than finding the subtrees again. */

static int find_tree(const struct forest *f, uint32_t location, uint32_t index, uint32_t *tree)
{
    for (uint32_t t = 0; t < f->n_trees; t++)
        if (f->location[t] == location && f->index[t] == index) {
            *tree = t;
            return 0;
        }
    return err_set(ERR_NOT_FOUND, "location %u has no execution %u", location, index);
}

/* Of a run that has no embedding one is trained while somebody waits: the time it takes is as
 * the product of trees and words. */
static void keep_short(struct scoring *w)
{
    uint32_t most = MAX_WORK / (w->forest.n_trees + 1);

    most = most > MIN_WORDS ? most : MIN_WORDS;
    if (w->embedding.n_words == 0 && w->embedding.opts.most_words > most)
        w->embedding.opts.most_words = most;
}

int subtrees_open(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, struct pool *pool)
{
    struct scoring *w = &s->work;
    int rc = run_scoring_load(w, db, columns, defs, foi, true);

    if (rc == 0) {
        keep_short(w);
        rc = scoring_matrix(w, feature_find("stack2vec"), pool, &s->x);
    }
    if (rc == 0)
        s->input = (struct topsubtrees_input){&w->embedding, s->x, &w->forest, defs, &w->wl, 0};
    return rc;
}

int subtrees_choose(struct subtrees *s, uint32_t location, uint32_t index)
{
    int rc = find_tree(&s->work.forest, location, index, &s->tree);

    if (rc < 0)
        return rc;
    topsubtrees_release(&s->tops);
    topsubtrees_init(&s->tops, &s->input, s->tree);
    return 0;
}

int subtrees_load(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, uint32_t location,
                  uint32_t index, struct pool *pool)
{
    int rc = subtrees_open(s, db, columns, defs, foi, pool);

    return rc < 0 ? rc : subtrees_choose(s, location, index);
}

void subtrees_release(struct subtrees *s)
{
    topsubtrees_release(&s->tops);
    scoring_release(&s->work);
    free(s->x.x);
    *s = (struct subtrees){0};
}
