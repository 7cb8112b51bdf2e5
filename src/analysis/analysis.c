/*
 * Stages in the order of the pipeline, each timed. What one stage needed and the next does not
 * is released at once: a forest may be most of the run.
 */
#include "analysis/analysis.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/progress.h"
#include "detect/detector.h"
#include "explain/why.h"
#include "features/features.h"
#include "features/residual_pack.h"
#include "features/wl.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#define DEFAULT_NAME "residual" /* of the features and of the detector */
#define MODEL_LEVEL 3           /* of compression */

/* Everything known about one forest. */
struct work {
    const struct definitions *defs;
    const struct analysis_opts *opts;
    const struct feature_ops *features;
    const struct detector_ops *detector;
    struct forest forest;
    struct wl wl;
    struct residual_model model;
    struct residual_place place;
    struct residual_measure *measure; /* [n_trees] */
    struct residual_scores residual;
    double *score; /* [n_trees] */
    double threshold;
};

static void work_release(struct work *w)
{
    forest_release(&w->forest);
    wl_release(&w->wl);
    residual_release(&w->model);
    residual_place_release(&w->place);
    residual_scores_release(&w->residual);
    free(w->measure);
    free(w->score);
}

static int choose(struct work *w)
{
    const char *features = w->opts->features ? w->opts->features : DEFAULT_NAME;
    const char *detector = w->opts->detector ? w->opts->detector : DEFAULT_NAME;

    w->features = feature_find(features);
    w->detector = detector_find(detector);
    if (w->features == NULL)
        return err_set(ERR_USAGE, "no such features: '%s'", features);
    if (w->detector == NULL)
        return err_set(ERR_USAGE, "no such detector: '%s'", detector);
    return 0;
}

static int build_forest(struct work *w, const struct columns *columns, uint32_t region)
{
    int rc = 0;

    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++) {
        struct call_view calls = columns_view(columns, l);

        rc = forest_add(&w->forest, l, &calls, region);
        columns_drop(columns);
    }
    if (rc == 0 && w->forest.n_trees == 0)
        rc = err_set(ERR_NOT_FOUND, "'%s' is never called", w->defs->region[region].name);
    return rc;
}

static void fit(struct work *w)
{
    wl_init(&w->wl, &w->forest, w->defs, w->detector->needs_matrix && w->features->needs_bags);
    residual_fit(&w->model, &w->place, &w->forest, &w->wl.vocab, w->wl.complete, w->defs);
    w->measure = mem_alloc(w->forest.n_trees, sizeof *w->measure);
    residual_measures(&w->model, &w->place, &w->forest, w->measure);
    residual_score(w->measure, w->forest.n_trees, &w->residual);
}

static int detect(struct work *w)
{
    struct feature_input features = {&w->forest, w->defs, &w->wl, &w->model, &w->place};
    struct detector_input input = {
        .residual = &w->residual, .k = w->opts->k, .pool = w->opts->pool};
    int rc = 0;

    w->score = mem_alloc(w->forest.n_trees, sizeof *w->score);
    if (w->detector->needs_matrix)
        rc = feature_matrix(w->features, &features, &input.x);
    if (rc == 0)
        rc = w->detector->score(&input, w->forest.n_trees, w->score, &w->threshold);
    free(input.x.x);
    if (!isnan(w->opts->threshold))
        w->threshold = w->opts->threshold;
    return rc;
}

/* ------------------------------------------------------------------------------ storing */

static int save_model(sqlite3 *db, int64_t foi, const struct residual_model *model)
{
    struct pack pack = {0};
    sqlite3_stmt *insert = NULL;
    size_t bound, n;
    void *packed;
    int rc;

    residual_pack(model, &pack);
    bound = ZSTD_compressBound(pack.n);
    packed = mem_alloc(bound, 1);
    n = ZSTD_compress(packed, bound, pack.data, pack.n, MODEL_LEVEL);
    rc = rundb_prepare(db, "INSERT INTO model VALUES (?, ?, ?)", &insert);
    if (rc == 0)
        rc = rundb_bind(db, insert, "ii", foi, (int64_t)pack.n);
    if (rc == 0 && (ZSTD_isError(n) ||
                    sqlite3_bind_blob64(insert, 3, packed, n, SQLITE_STATIC) != SQLITE_OK ||
                    sqlite3_step(insert) != SQLITE_DONE))
        rc = rundb_error(db, "cannot store the model");
    sqlite3_finalize(insert);
    free(packed);
    pack_release(&pack);
    return rc;
}

static int save_foi(sqlite3 *db, const struct work *w, const struct analysis_foi *foi,
                    const struct analysis_result *result)
{
    sqlite3_stmt *insert;
    char settings[128];
    int rc = rundb_prepare(db, "INSERT INTO foi VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           &insert);

    snprintf(settings, sizeof settings, "{\"neighbours\": %u, \"seed\": %llu}", w->opts->k,
             (unsigned long long)w->opts->seed);
    if (rc == 0)
        rc = rundb_insert(db, insert, "itiiiiiittdt", foi->id, foi->name, (int64_t)foi->region,
                          (int64_t)result->n_trees, (int64_t)result->n_vertices,
                          (int64_t)result->n_messages, (int64_t)result->n_subtrees,
                          (int64_t)result->max_depth, w->features->name, w->detector->name,
                          w->threshold, settings);
    sqlite3_finalize(insert);
    return rc;
}

static int save_execution(sqlite3 *db, sqlite3_stmt *insert, const struct work *w, int64_t foi,
                          uint32_t t, const char *why)
{
    const struct forest *f = &w->forest;
    const struct location *location = &w->defs->location[f->location[t]];
    const struct residual_measure *m = &w->measure[t];

    return rundb_insert(
        db, insert, "iiiiiiiiiiirtrrrrtt", foi, (int64_t)t, (int64_t)f->location[t],
        (int64_t)location->rank, (int64_t)location->thread, (int64_t)f->index[t],
        (int64_t)f->call[t], (int64_t)f->enter_ns[t], (int64_t)f->root_ns[t],
        (int64_t)(f->first[t + 1] - f->first[t]), (int64_t)f->n_messages[t], w->score[t],
        w->score[t] > w->threshold ? "anomaly" : "normal", m->time, m->gross, m->structure,
        m->size, score_part_name(w->residual.part[t]), why);
}

static int save_executions(sqlite3 *db, const struct work *w, int64_t foi)
{
    struct progress progress;
    sqlite3_stmt *insert;
    struct why why;
    int rc =
        rundb_prepare(db,
                      "INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                      "?, ?, ?, ?, ?, ?)",
                      &insert);

    why_init(&why, &w->model, &w->place, &w->forest, w->defs);
    progress_begin(&progress, "storing", "executions", w->forest.n_trees);
    for (uint32_t t = 0; rc == 0 && t < w->forest.n_trees; t++) {
        double value[N_PARTS];
        char sentence[WHY_SIZE];

        for (int p = 0; p < N_PARTS; p++)
            value[p] = w->residual.value[p][t];
        why_sentence(&why, t, &w->measure[t], value, sentence);
        rc = save_execution(db, insert, w, foi, t, sentence);
        progress_add(&progress, 1);
    }
    progress_end(&progress);
    why_release(&why);
    sqlite3_finalize(insert);
    return rc;
}

/* --------------------------------------------------------------------------------- public */

static void summarize(const struct work *w, struct analysis_result *result)
{
    result->n_trees = w->forest.n_trees;
    result->n_vertices = w->forest.n;
    result->max_depth = forest_depth(&w->forest);
    result->n_subtrees = w->wl.vocab.label.n;
    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        result->n_messages += w->forest.n_messages[t];
        result->n_anomalies += w->score[t] > w->threshold;
    }
}

int analysis_run(sqlite3 *db, const struct columns *columns, const struct definitions *defs,
                 const struct analysis_foi *foi, const struct analysis_opts *opts,
                 struct analysis_result *result)
{
    struct work w = {.defs = defs, .opts = opts};
    uint64_t begin = clock_ns(), forest_at, features_at, detect_at;
    int rc = choose(&w);

    *result = (struct analysis_result){0};
    if (rc == 0)
        rc = build_forest(&w, columns, foi->region);
    if (rc < 0)
        goto out;
    forest_at = clock_ns();
    fit(&w);
    features_at = clock_ns();
    rc = detect(&w);
    if (rc < 0)
        goto out;
    detect_at = clock_ns();
    summarize(&w, result);
    rc = save_foi(db, &w, foi, result);
    if (rc == 0)
        rc = save_model(db, foi->id, &w.model);
    if (rc == 0)
        rc = save_executions(db, &w, foi->id);
    result->forest_ns = forest_at - begin;
    result->features_ns = features_at - forest_at;
    result->detect_ns = detect_at - features_at;
    result->store_ns = clock_ns() - detect_at;
out:
    work_release(&w);
    return rc;
}

int analysis_load_model(sqlite3 *db, int64_t foi, uint32_t n_regions,
                        struct residual_model *model)
{
    sqlite3_stmt *query = NULL;
    struct pack pack = {0};
    int rc = rundb_prepare(db, "SELECT bytes, data FROM model WHERE foi = ?", &query);

    *model = (struct residual_model){0};
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) != SQLITE_ROW)
        rc = err_set(ERR_NOT_FOUND, "the run has no model for this function of interest");
    if (rc == 0) {
        const void *packed = sqlite3_column_blob(query, 1);
        size_t n_packed = (size_t)sqlite3_column_bytes(query, 1);
        unsigned long long size = ZSTD_getFrameContentSize(packed, n_packed);

        if (size != (unsigned long long)sqlite3_column_int64(query, 0)) {
            rc = err_set(ERR_FORMAT, "damaged run: the model has another size than noted");
        } else {
            pack.data = mem_alloc(size, 1);
            pack.n = ZSTD_decompress(pack.data, size, packed, n_packed);
            rc = ZSTD_isError(pack.n)
                     ? err_set(ERR_FORMAT, "damaged run: the model cannot be decompressed")
                     : residual_unpack(model, &pack, n_regions);
        }
    }
    sqlite3_finalize(query);
    pack_release(&pack);
    return rc;
}
