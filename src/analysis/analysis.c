/*
 * Stages in the order of the pipeline, each timed. What one stage needed and the next does not
 * is released at once: a forest may be most of the run.
 */
#include "analysis/analysis.h"

#include "analysis/causes.h"
#include "analysis/foi_settings.h"
#include "analysis/model_store.h"
#include "analysis/work.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "detect/detector.h"
#include "detect/rbf.h"
#include "explain/why.h"
#include "features/residual_rows.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_NAME "residual" /* of the features and of the detector */

/* One function of interest on its way through the stages. */
struct analysis {
    const struct analysis_opts *opts;
    const struct columns *columns;
    const struct feature_ops *features;
    const struct detector_ops *detector;
    struct work work;
    double *score; /* [n_trees] */
    double threshold, gamma;
};

static int choose(struct analysis *a)
{
    const struct model *model = a->opts->model;
    const char *features = model ? model->features : a->opts->features;
    const char *detector = model ? model->detector : a->opts->detector;

    features = features ? features : DEFAULT_NAME;
    detector = detector ? detector : DEFAULT_NAME;

    a->features = feature_find(features);
    a->detector = detector_find(detector);
    if (a->features == NULL)
        return err_set(ERR_USAGE, "no such features: '%s'", features);
    if (a->detector == NULL)
        return err_set(ERR_USAGE, "no such detector: '%s'", detector);
    a->work.embedding.opts = stack2vec_default();
    a->work.embedding.opts.seed = a->opts->seed;
    stack2vec_override(&a->work.embedding.opts, &a->opts->embedding);
    return stack2vec_check(&a->work.embedding.opts);
}

/* What the model learnt from labels, on top of the detector's scores. */
static void correct(struct analysis *a, const struct gp *gp)
{
    struct feature_input input = work_input(&a->work, a->opts->pool);
    struct rows rows;

    if (gp->points.n == 0)
        return;
    residual_rows(&input, a->score, &rows);
    gp_score(gp, &rows, a->score, a->opts->pool, a->score);
    rows_release(&rows);
}

static bool has_svm(const struct model *model)
{
    return model && model->svm.support.rows > 0;
}

static int score_by_svm(struct analysis *a, struct matrix x)
{
    const struct model *model = a->opts->model;

    a->threshold = model->threshold;
    a->gamma = model->svm.gamma;
    return ocsvm_model_score(&model->svm, x, a->opts->pool, a->score);
}

static int score_by_detector(struct analysis *a, struct detector_input *input)
{
    if (a->detector->needs_gamma)
        a->gamma = input->gamma = input->gamma > 0 ? input->gamma : rbf_gamma(input->x);
    return a->detector->score(input, a->work.forest.n_trees, a->score, &a->threshold);
}

static int detect(struct analysis *a)
{
    uint32_t n = a->work.forest.n_trees;
    struct detector_input input = {.residual = &a->work.residual,
                                   .k = a->opts->k,
                                   .gamma = a->opts->gamma,
                                   .seed = a->opts->seed,
                                   .pool = a->opts->pool};
    int rc = 0;

    a->score = mem_alloc(n, sizeof *a->score);
    if (a->detector->needs_matrix)
        rc = work_matrix(&a->work, a->features, a->opts->pool, &input.x);
    if (rc == 0)
        rc = has_svm(a->opts->model) ? score_by_svm(a, input.x) : score_by_detector(a, &input);
    free(input.x.x);
    if (rc == 0 && a->opts->model)
        correct(a, &a->opts->model->gp);
    if (!isnan(a->opts->threshold))
        a->threshold = a->opts->threshold;
    return rc;
}

/* ------------------------------------------------------------------------------ storing */

static int save_foi(sqlite3 *db, const struct analysis *a, const struct analysis_foi *foi,
                    const struct analysis_result *result)
{
    const struct foi_settings settings = {
        .neighbours = a->opts->k,
        .seed = a->opts->seed,
        .learnt = {a->gamma, a->work.embedding.opts},
    };
    char text[FOI_SETTINGS_SIZE];
    sqlite3_stmt *insert;
    int rc = rundb_prepare(db, "INSERT INTO foi VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           &insert);

    foi_settings_text(&settings, text);
    if (rc == 0)
        rc = rundb_insert(db, insert, "itiiiiiittdt", foi->id, foi->name, (int64_t)foi->region,
                          (int64_t)result->n_trees, (int64_t)result->n_vertices,
                          (int64_t)result->n_messages, (int64_t)result->n_subtrees,
                          (int64_t)result->max_depth, a->features->name, a->detector->name,
                          a->threshold, text);
    sqlite3_finalize(insert);
    return rc;
}

static int save_execution(sqlite3 *db, sqlite3_stmt *insert, const struct analysis *a,
                          int64_t foi, uint32_t t, const char *why, const char *cause)
{
    const struct work *w = &a->work;
    const struct forest *f = &w->forest;
    const struct location *location = &w->defs->location[f->location[t]];
    const struct residual_measure *m = &w->measure[t];

    return rundb_insert(
        db, insert, "iiiiiiiiiiirtrrrrttt", foi, (int64_t)t, (int64_t)f->location[t],
        (int64_t)location->rank, (int64_t)location->thread, (int64_t)f->index[t],
        (int64_t)f->call[t], (int64_t)f->enter_ns[t], (int64_t)f->root_ns[t],
        (int64_t)(f->first[t + 1] - f->first[t]), (int64_t)f->n_messages[t], a->score[t],
        a->score[t] > a->threshold ? "anomaly" : "normal", m->time, m->gross, m->structure,
        m->size, score_part_name(w->residual.part[t]), why, cause);
}

/* The chain of a tree as a sentence, or NULL where it says nothing new. */
static const char *chain_of(struct causes *causes, const struct work *w, uint32_t t,
                            char out[CAUSE_SIZE])
{
    if (!causes_of(causes, &w->model, &w->place, &w->forest, t) ||
        !cause_has_news(&causes->cause))
        return NULL;
    return cause_sentence(&causes->view, &causes->cause, out);
}

static int save_executions(sqlite3 *db, const struct analysis *a, int64_t foi)
{
    const struct work *w = &a->work;
    double threshold = causes_threshold(a->score, w->forest.n_trees, a->threshold);
    struct progress progress;
    struct causes causes;
    sqlite3_stmt *insert;
    struct why why;
    int rc =
        rundb_prepare(db,
                      "INSERT INTO execution VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                      "?11, ?12, ?13, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
                      &insert);

    why_init(&why, &w->model, &w->place, &w->forest, w->defs);
    causes_init(&causes, a->columns, w->defs);
    progress_begin(&progress, "storing", "executions", w->forest.n_trees);
    for (uint32_t t = 0; rc == 0 && t < w->forest.n_trees; t++) {
        char sentence[WHY_SIZE], chain[CAUSE_SIZE];
        const char *cause = NULL;
        double value[N_PARTS];

        for (int p = 0; p < N_PARTS; p++)
            value[p] = w->residual.value[p][t];
        why_sentence(&why, t, &w->measure[t], value, sentence);
        if (a->score[t] > threshold)
            cause = chain_of(&causes, w, t, chain);
        rc = save_execution(db, insert, a, foi, t, sentence, cause);
        progress_add(&progress, 1);
    }
    progress_end(&progress);
    causes_release(&causes);
    why_release(&why);
    sqlite3_finalize(insert);
    return rc;
}

/* --------------------------------------------------------------------------------- public */

static void summarize(const struct analysis *a, struct analysis_result *result)
{
    const struct work *w = &a->work;

    result->n_trees = w->forest.n_trees;
    result->n_vertices = w->forest.n;
    result->max_depth = forest_depth(&w->forest);
    result->n_subtrees = w->wl.vocab.label.n;
    result->gamma = a->gamma;
    result->unseen_subtrees = w->unseen;
    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        result->n_messages += w->forest.n_messages[t];
        result->n_anomalies += a->score[t] > a->threshold;
    }
}

/* What the vertices and subtrees of the forest are, by itself or by the model. */
static void learn_or_apply(struct analysis *a, struct analysis_result *result)
{
    bool with_bags = a->detector->needs_matrix && a->features->needs_bags;
    struct model *model = a->opts->model;

    if (model == NULL) {
        work_fit(&a->work, with_bags);
        return;
    }
    work_apply(&a->work, &model->residual, &model->yardstick, with_bags, &result->unseen);
    if (model->embedding.n_words > 0) {
        a->work.embedding = model->embedding;
        model->embedding = (struct stack2vec){0};
    }
}

int analysis_run(sqlite3 *db, const struct columns *columns, const struct definitions *defs,
                 const struct analysis_foi *foi, const struct analysis_opts *opts,
                 struct analysis_result *result)
{
    struct analysis a = {.opts = opts, .columns = columns};
    uint64_t begin = clock_ns(), forest_at, features_at, detect_at;
    int rc = choose(&a);

    *result = (struct analysis_result){0};
    if (rc == 0)
        rc = work_forest(&a.work, columns, defs, foi->region);
    if (rc < 0)
        goto out;
    forest_at = clock_ns();
    learn_or_apply(&a, result);
    features_at = clock_ns();
    rc = detect(&a);
    if (rc < 0)
        goto out;
    detect_at = clock_ns();
    summarize(&a, result);
    rc = save_foi(db, &a, foi, result);
    if (rc == 0)
        rc = model_store_save(db, foi->id, &a.work.model);
    if (rc == 0 && a.work.embedding.n_words > 0)
        rc = model_store_save_embedding(db, foi->id, &a.work.embedding);
    if (rc == 0)
        rc = save_executions(db, &a, foi->id);
    result->forest_ns = forest_at - begin;
    result->features_ns = features_at - forest_at;
    result->detect_ns = detect_at - features_at;
    result->store_ns = clock_ns() - detect_at;
out:
    work_release(&a.work);
    free(a.score);
    return rc;
}
