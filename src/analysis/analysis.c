/*
 * Stages in the order of the pipeline, each timed. What one stage needed and the next does not
 * is released at once: a forest may be most of the run.
 */
#include "analysis/analysis.h"

#include "analysis/causes.h"
#include "analysis/foi_settings.h"
#include "analysis/model_store.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "run/rundb.h"

/* One function of interest on its way through the stages. */
struct analysis {
    const struct analysis_opts *opts;
    const struct columns *columns;
    struct scoring_opts scoring_opts;
    struct scoring scoring;
};

static int choose(struct analysis *a)
{
    const struct analysis_opts *opts = a->opts;
    const struct model *model = opts->model;
    const char *features = model ? model->features : opts->features;
    const char *detector = model ? model->detector : opts->detector;

    features = features ? features : SCORING_DEFAULT;
    detector = detector ? detector : SCORING_DEFAULT;
    a->scoring_opts = (struct scoring_opts){.detector = detector_find(detector),
                                            .features = feature_find(features),
                                            .k = opts->k,
                                            .threshold = opts->threshold,
                                            .gamma = opts->gamma,
                                            .seed = opts->seed,
                                            .pool = opts->pool};
    if (a->scoring_opts.features == NULL)
        return err_set(ERR_USAGE, "no such features: '%s'", features);
    if (a->scoring_opts.detector == NULL)
        return err_set(ERR_USAGE, "no such detector: '%s'", detector);
    a->scoring.embedding.opts = stack2vec_default();
    a->scoring.embedding.opts.seed = opts->seed;
    stack2vec_override(&a->scoring.embedding.opts, &opts->embedding);
    return stack2vec_check(&a->scoring.embedding.opts);
}

/* ------------------------------------------------------------------------------ storing */

static int save_foi(sqlite3 *db, const struct analysis *a, const struct analysis_foi *foi,
                    const struct analysis_result *result)
{
    const struct foi_settings settings = {
        .neighbours = a->opts->k,
        .seed = a->opts->seed,
        .learnt = {a->scoring.gamma, a->scoring.embedding.opts},
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
                          (int64_t)result->max_depth, a->scoring_opts.features->name,
                          a->scoring_opts.detector->name, a->scoring.threshold, text);
    sqlite3_finalize(insert);
    return rc;
}

static int save_execution(sqlite3 *db, sqlite3_stmt *insert, const struct analysis *a,
                          int64_t foi, uint32_t t, const char *why, const char *cause)
{
    const struct scoring *w = &a->scoring;
    const struct forest *f = &w->forest;
    const struct location *location = &w->defs->location[f->location[t]];
    const struct residual_measure *m = &w->measure[t];

    return rundb_insert(
        db, insert, "iiiiiiiiiiirtrrrrttt", foi, (int64_t)t, (int64_t)f->location[t],
        (int64_t)location->rank, (int64_t)location->thread, (int64_t)f->index[t],
        (int64_t)f->call[t], (int64_t)f->enter_ns[t], (int64_t)f->root_ns[t],
        (int64_t)(f->first[t + 1] - f->first[t]), (int64_t)f->n_messages[t], w->score[t],
        w->is_anomaly[t] ? "anomaly" : "normal", m->time, m->gross, m->structure, m->size,
        score_part_name(w->residual.part[t]), why, cause);
}

/* The chain of a tree as a sentence, or NULL where it says nothing new. */
static const char *chain_of(struct causes *causes, const struct scoring *w, uint32_t t,
                            char out[CAUSE_SIZE])
{
    if (!causes_of(causes, &w->model, &w->place, &w->forest, t) ||
        !cause_has_news(&causes->cause))
        return NULL;
    return cause_sentence(&causes->view, &causes->cause, out);
}

static int save_executions(sqlite3 *db, const struct analysis *a, int64_t foi)
{
    const struct scoring *w = &a->scoring;
    double least = causes_least(w->score, w->is_anomaly, w->forest.n_trees);
    struct progress progress;
    struct causes causes;
    sqlite3_stmt *insert;
    struct why why;
    int rc =
        rundb_prepare(db,
                      "INSERT INTO execution VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                      "?11, ?12, ?13, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
                      &insert);

    scoring_why_init(w, &why);
    causes_init(&causes, a->columns, w->defs);
    progress_begin(&progress, "storing", "executions", w->forest.n_trees);
    for (uint32_t t = 0; rc == 0 && t < w->forest.n_trees; t++) {
        char sentence[WHY_SIZE], chain[CAUSE_SIZE];
        const char *cause = NULL;

        scoring_why(w, &why, t, sentence);
        if (w->is_anomaly[t] && w->score[t] > least)
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
    const struct scoring *w = &a->scoring;

    result->n_trees = w->forest.n_trees;
    result->n_vertices = w->forest.n;
    result->max_depth = forest_depth(&w->forest);
    result->n_subtrees = w->wl.vocab.label.n;
    result->gamma = w->gamma;
    result->unseen = w->unseen;
    for (uint32_t t = 0; t < w->forest.n_trees; t++) {
        result->n_messages += w->forest.n_messages[t];
        result->n_anomalies += w->is_anomaly[t];
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
        rc = run_scoring_collect(&a.scoring, columns, defs, foi->region);
    if (rc < 0)
        goto out;
    forest_at = clock_ns();
    if (opts->model)
        scoring_apply(&a.scoring, opts->model, scoring_needs_bags(&a.scoring_opts));
    else
        scoring_learn(&a.scoring, scoring_needs_bags(&a.scoring_opts));
    features_at = clock_ns();
    rc = scoring_judge(&a.scoring, &a.scoring_opts);
    if (rc < 0)
        goto out;
    detect_at = clock_ns();
    summarize(&a, result);
    rc = save_foi(db, &a, foi, result);
    if (rc == 0)
        rc = model_store_save(db, foi->id, &a.scoring.model);
    if (rc == 0 && a.scoring.embedding.n_words > 0)
        rc = model_store_save_embedding(db, foi->id, &a.scoring.embedding);
    if (rc == 0)
        rc = save_executions(db, &a, foi->id);
    result->forest_ns = forest_at - begin;
    result->features_ns = features_at - forest_at;
    result->detect_ns = detect_at - features_at;
    result->store_ns = clock_ns() - detect_at;
out:
    scoring_release(&a.scoring);
    return rc;
}
