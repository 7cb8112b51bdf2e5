/* Rows and the model; what the causes of an anomaly were is only looked for here. */
#include "analysis/run_store.h"

#include "analysis/causes.h"
#include "analysis/foi_settings.h"
#include "analysis/model_store.h"
#include "base/progress.h"
#include "run/rundb.h"

#include <math.h>

static int save_foi(sqlite3 *db, const struct analysed *a)
{
    const struct scoring *w = a->scoring;
    const struct analysis_result *result = a->result;
    const struct foi_settings settings = {
        .neighbours = a->opts->k,
        .seed = a->opts->seed,
        .learnt = {w->gamma, w->embedding.opts},
    };
    char text[FOI_SETTINGS_SIZE];
    sqlite3_stmt *insert;
    int rc = rundb_prepare_insert(db, "foi",
                                  "id, name, region, trees, vertices, messages, "
                                  "unique_subtrees, max_depth, features, detector, "
                                  "threshold, settings",
                                  &insert);

    foi_settings_text(&settings, text);
    if (rc == 0)
        rc = rundb_insert(db, insert, "itiiiiiittdt", a->foi->id, a->foi->name,
                          (int64_t)a->foi->region, (int64_t)result->n_trees,
                          (int64_t)result->n_vertices, (int64_t)result->n_messages,
                          (int64_t)result->n_subtrees, (int64_t)result->max_depth,
                          a->opts->features->name, a->opts->detector->name, w->threshold, text);
    sqlite3_finalize(insert);
    return rc;
}

/* Times are of the sentence that was made last, which is of this tree. */
static int save_execution(sqlite3 *db, sqlite3_stmt *insert, const struct analysed *a,
                          uint32_t t, const struct why *why, const char *sentence,
                          const char *cause)
{
    const struct scoring *w = a->scoring;
    const struct forest *f = &w->forest;
    const struct location *location = &w->defs->location[f->location[t]];
    const struct residual_measure *m = &w->measure[t];
    const char *verdict = w->is_anomaly[t] ? "anomaly" : "normal";

    return rundb_insert(
        db, insert, "iiiiiiiiiiiiiirtrtrrrrrttt", a->foi->id, (int64_t)t,
        (int64_t)f->location[t], (int64_t)location->rank, (int64_t)location->thread,
        (int64_t)f->index[t], (int64_t)f->call[t], (int64_t)f->enter_ns[t],
        (int64_t)f->root_ns[t], (int64_t)f->tracer_ns[t], (int64_t)llrint(why->usual_ns),
        (int64_t)llrint(why->lost_ns), (int64_t)forest_n_rows(f, t), (int64_t)f->n_messages[t],
        w->score[t], verdict, w->score[t], verdict, w->chance[t], m->time, m->gross,
        m->structure, m->size, score_part_name(w->residual.part[t]), sentence, cause);
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

static int save_executions(sqlite3 *db, const struct analysed *a)
{
    const struct scoring *w = a->scoring;
    double least = causes_least(w->score, w->is_anomaly, w->forest.n_trees);
    struct progress progress;
    struct causes causes;
    sqlite3_stmt *insert;
    struct why why;
    int rc = rundb_prepare_insert(
        db, "execution",
        "foi, tree, location, rank, thread, idx, call, enter_ns, duration_ns, tracer_ns, "
        "usual_ns, lost_ns, vertices, messages, score, verdict, detector_score, "
        "detector_verdict, "
        "false_alarm_probability, time, gross, structure, "
        "size, part, why, cause",
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
        rc = save_execution(db, insert, a, t, &why, sentence, cause);
        progress_add(&progress, 1);
    }
    progress_end(&progress);
    causes_release(&causes);
    why_release(&why);
    sqlite3_finalize(insert);
    return rc;
}

static int store(void *ctx, const struct analysed *a)
{
    sqlite3 *db = ctx;
    const struct scoring *w = a->scoring;
    int rc = save_foi(db, a);

    if (rc == 0)
        rc = model_store_save(db, a->foi->id, &w->model);
    if (rc == 0 && w->embedding.n_words > 0)
        rc = model_store_save_embedding(db, a->foi->id, &w->embedding);
    return rc < 0 ? rc : save_executions(db, a);
}

struct analysis_sink run_store_sink(sqlite3 *db)
{
    return (struct analysis_sink){.take = store, .ctx = db};
}
