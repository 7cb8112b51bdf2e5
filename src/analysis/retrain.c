/* The ranking is computed first; what it replaces is read in the transaction that writes. */
#include "analysis/retrain.h"

#include "analysis/acts.h"
#include "analysis/label_store.h"
#include "analysis/model_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "detect/detector.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A ranking and what it replaces. */
struct scores {
    uint32_t n;
    double *score, *old_score;
    bool *is_anomaly, *was_anomaly;
    signed char *label;
    double threshold;
    int64_t newest_label;
};

static void scores_init(struct scores *s, uint32_t n)
{
    *s = (struct scores){.n = n,
                         .score = mem_alloc(n, sizeof(double)),
                         .old_score = mem_alloc(n, sizeof(double)),
                         .is_anomaly = mem_alloc(n, sizeof(bool)),
                         .was_anomaly = mem_alloc(n, sizeof(bool)),
                         .label = mem_alloc(n, 1)};
}

static void scores_release(struct scores *s)
{
    free(s->score);
    free(s->old_score);
    free(s->is_anomaly);
    free(s->was_anomaly);
    free(s->label);
}

/* Scores and verdicts of all trees, from the columns of those names. */
static int load(sqlite3 *db, int64_t foi, const char *columns, uint32_t n, double *score,
                bool *is_anomaly)
{
    sqlite3_stmt *query = NULL;
    char sql[128];
    uint32_t t = 0;
    int rc;

    snprintf(sql, sizeof sql, "SELECT %s FROM execution WHERE foi = ? ORDER BY tree", columns);
    rc = rundb_prepare(db, sql, &query);
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    for (; rc == 0 && t < n && sqlite3_step(query) == SQLITE_ROW; t++) {
        score[t] = sqlite3_column_double(query, 0);
        is_anomaly[t] = strcmp(rundb_text(query, 1), "anomaly") == 0;
    }
    if (rc == 0 && t < n)
        rc = err_set(ERR_FORMAT, "damaged run: %u of %u executions are in it", t, n);
    sqlite3_finalize(query);
    return rc;
}

/* Only the rows that change are written. */
static int store(sqlite3 *db, int64_t foi, const struct scores *s)
{
    sqlite3_stmt *update = NULL;
    int rc = rundb_prepare(
        db, "UPDATE execution SET score = ?, verdict = ? WHERE foi = ? AND tree = ?", &update);

    for (uint32_t t = 0; rc == 0 && t < s->n; t++)
        if (s->score[t] != s->old_score[t] || s->is_anomaly[t] != s->was_anomaly[t])
            rc = rundb_insert(db, update, "rtii", s->score[t],
                              s->is_anomaly[t] ? "anomaly" : "normal", foi, (int64_t)t);
    sqlite3_finalize(update);
    return rc;
}

static int by_score(const void *a, const void *b)
{
    const struct retrain_change *x = a, *y = b;

    if (x->after != y->after)
        return x->after > y->after ? -1 : 1;
    return x->tree < y->tree ? -1 : 1;
}

static void summarize(const struct scores *s, struct retrain_result *result)
{
    for (uint32_t t = 0; t < s->n; t++) {
        result->n_abnormal += s->label[t] == LABEL_ABNORMAL;
        result->n_normal += s->label[t] == LABEL_NORMAL;
        result->n_anomalies += s->is_anomaly[t];
        result->n_changes += s->is_anomaly[t] != s->was_anomaly[t];
    }
    result->threshold = s->threshold;
    result->change = mem_alloc(result->n_changes, sizeof *result->change);
    result->n_changes = 0;
    for (uint32_t t = 0; t < s->n; t++)
        if (s->is_anomaly[t] != s->was_anomaly[t])
            result->change[result->n_changes++] =
                (struct retrain_change){t, s->old_score[t], s->score[t], s->is_anomaly[t]};
    qsort(result->change, result->n_changes, sizeof *result->change, by_score);
}

static int record(sqlite3 *db, const struct ranking *r, const struct scores *s,
                  const char *author, struct retrain_result *result)
{
    sqlite3_stmt *insert = NULL;
    size_t n_up = 0;
    char at[32], settings[FOI_SETTINGS_SIZE];
    int rc = rundb_prepare(db,
                           "INSERT INTO retrain (foi, author, at, learner, features, seed, "
                           "last_label, abnormal, normal, threshold, anomalies, "
                           "became_anomaly, became_normal, settings) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           &insert);

    label_now(at);
    learnt_settings_text(&r->learnt, settings);
    for (size_t i = 0; i < result->n_changes; i++)
        n_up += result->change[i].is_anomaly;
    if (rc == 0)
        rc = rundb_insert(db, insert, "ittttiiiidiiit", r->foi, author, at, r->learner_name,
                          r->features_name, (int64_t)r->learner.input.seed, s->newest_label,
                          (int64_t)result->n_abnormal, (int64_t)result->n_normal,
                          result->threshold, (int64_t)result->n_anomalies, (int64_t)n_up,
                          (int64_t)(result->n_changes - n_up), settings);
    result->id = sqlite3_last_insert_rowid(db);
    sqlite3_finalize(insert);
    return rc;
}

static int rank(sqlite3 *db, struct ranking *r, int64_t last_label, struct scores *s,
                struct retrain_result *result)
{
    uint64_t begin;
    int rc = label_store_load(db, r->foi, last_label, s->n, s->label, &s->newest_label);

    begin = clock_ns();
    if (rc == 0)
        rc = learner_rank(&r->learner, s->label, s->score, s->is_anomaly, &s->threshold);
    result->rank_ns = clock_ns() - begin;
    return rc;
}

/* From here on the scores are nobody else's to change; s gets those that hold until now. */
static int begin(sqlite3 *db, int64_t foi, struct scores *s)
{
    int rc = rundb_exec(db, "BEGIN IMMEDIATE");

    if (rc == 0)
        rc = load(db, foi, "score, verdict", s->n, s->old_score, s->was_anomaly);
    return rc;
}

/* Also what could not begin: without a transaction there is nothing to roll back. */
static int commit(sqlite3 *db, int rc)
{
    if (rc == 0)
        return rundb_exec(db, "COMMIT");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

static int write_run(sqlite3 *db, struct ranking *r, const char *author, struct scores *s,
                     struct label_effects *effects, struct retrain_result *result)
{
    int rc = begin(db, r->foi, s);

    if (rc < 0)
        return rc;
    summarize(s, result);
    label_effects_count(effects, r, s->label, s->is_anomaly, s->was_anomaly);
    memcpy(result->effect, effects->of, sizeof result->effect);
    result->n_effects = effects->n;
    rc = store(db, r->foi, s);
    if (rc == 0)
        rc = record(db, r, s, author, result);
    if (rc == 0)
        rc = acts_add_retrain(db, r->foi, result->id);
    if (rc == 0 && r->work.is_embedding_new)
        rc = model_store_save_embedding(db, r->foi, &r->work.embedding);
    return rc;
}

int retrain_run(sqlite3 *db, struct ranking *r, const char *author,
                struct retrain_result *result)
{
    struct label_effects effects = {.n = 0};
    struct scores s;
    int rc;

    *result = (struct retrain_result){0};
    scores_init(&s, r->n);
    rc = label_effects_find(&effects, db, r);
    if (rc == 0)
        rc = rank(db, r, LABEL_LAST, &s, result);
    if (rc == 0)
        rc = commit(db, write_run(db, r, author, &s, &effects, result));
    label_effects_release(&effects);
    scores_release(&s);
    return rc;
}

/* -------------------------------------------------------------------------------- undo */

static int take_settings(sqlite3_stmt *query, struct retrain_settings *s)
{
    s->id = sqlite3_column_int64(query, 0);
    snprintf(s->learner, sizeof s->learner, "%s", rundb_text(query, 1));
    snprintf(s->features, sizeof s->features, "%s", rundb_text(query, 2));
    s->seed = (uint64_t)sqlite3_column_int64(query, 3);
    s->last_label = sqlite3_column_int64(query, 4);
    snprintf(s->at, sizeof s->at, "%s", rundb_text(query, 5));
    return learnt_settings_of(query, 6, &s->learnt);
}

struct ranking_opts retrain_opts(const struct retrain_settings *as, struct pool *pool)
{
    return (struct ranking_opts){.learner = *as->learner ? as->learner : NULL,
                                 .features = *as->features ? as->features : NULL,
                                 .embedding = as->learnt.embedding,
                                 .gamma = as->learnt.gamma,
                                 .nu = as->learnt.nu,
                                 .seed = as->seed,
                                 .pool = pool};
}

/* The newest that holds, and the one that would after an undo: id 0 if none would. */
static int load_two(sqlite3 *db, int64_t foi, struct retrain_settings *newest,
                    struct retrain_settings *before)
{
    sqlite3_stmt *query = NULL;
    int rc =
        rundb_prepare(db,
                      "SELECT id, learner, features, seed, last_label, at, " LEARNT_COLUMNS
                      " FROM retrain WHERE foi = ? AND NOT is_undone ORDER BY id DESC LIMIT 2",
                      &query);

    *newest = *before = (struct retrain_settings){0};
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        rc = take_settings(query, newest);
        if (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
            rc = take_settings(query, before);
    }
    sqlite3_finalize(query);
    if (learner_find(newest->learner) == NULL)
        newest->learner[0] = '\0';
    if (rc == 0 && newest->id == 0)
        rc = err_set(ERR_NOT_FOUND, "there is no retrain to undo");
    return rc;
}

int retrain_newest(sqlite3 *db, int64_t foi, struct retrain_settings *newest)
{
    struct retrain_settings before;

    return load_two(db, foi, newest, &before);
}

int retrain_next(sqlite3 *db, int64_t foi, struct retrain_settings *as)
{
    struct retrain_settings newest = {.id = 0};
    struct foi_settings analysed;
    const struct detector_ops *detector;
    int rc = *as->learner ? 0 : retrain_newest(db, foi, &newest);

    if (rc < 0 && rc != ERR_NOT_FOUND)
        return rc;
    if (*newest.learner) {
        strcpy(as->learner, newest.learner);
        if (*as->features == '\0') {
            strcpy(as->features, newest.features);
            as->learnt = newest.learnt;
        }
        return 0;
    }
    rc = foi_settings_load(db, foi, &analysed);
    if (rc < 0)
        return rc;
    detector = detector_find(analysed.detector);
    if (*as->learner == '\0' && detector && detector->learner)
        snprintf(as->learner, sizeof as->learner, "%s", detector->learner);
    if (*as->features == '\0')
        strcpy(as->features, analysed.features);
    return 0;
}

int retrain_features(sqlite3 *db, int64_t foi, const struct feature_ops **features)
{
    struct retrain_settings as = {.id = 0};
    int rc = retrain_next(db, foi, &as);
    const struct learner_ops *learner = learner_find(as.learner);

    *features = feature_find(learner && !learner->needs_matrix ? "residual" : as.features);
    return rc == 0 && *features == NULL
               ? err_set(ERR_FORMAT, "unknown features '%s'", as.features)
               : rc;
}

int retrain_to_undo(sqlite3 *db, int64_t foi, struct retrain_settings *as)
{
    struct retrain_settings newest, before;
    int rc = load_two(db, foi, &newest, &before);

    *as = before.id ? before : newest;
    return rc;
}

static int count_trees(sqlite3 *db, int64_t foi, uint32_t *n)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, "SELECT trees FROM foi WHERE id = ?", &query);

    *n = 0;
    if (rc == 0)
        rc = rundb_bind(db, query, "i", foi);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        *n = (uint32_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return rc;
}

static int mark(sqlite3 *db, int64_t id, enum act_way way)
{
    sqlite3_stmt *update = NULL;
    int rc = rundb_prepare(db, "UPDATE retrain SET is_undone = ? WHERE id = ?", &update);

    if (rc == 0)
        rc = rundb_insert(db, update, "ii", (int64_t)(way == ACT_UNDO), id);
    sqlite3_finalize(update);
    return rc < 0 ? rc : acts_turned_retrain(db, id, way);
}

/* Somebody may have retrained, or undone, since it was looked up. */
static int check_newest(sqlite3 *db, int64_t foi, int64_t newest_id)
{
    struct retrain_settings newest;
    int rc = retrain_newest(db, foi, &newest);

    if (rc == 0 && newest.id != newest_id)
        rc = err_set(ERR_EXISTS, "the run was retrained meanwhile; nothing is undone");
    return rc;
}

static int write_undo(sqlite3 *db, int64_t foi, int64_t newest_id, struct scores *s,
                      struct retrain_result *result)
{
    int rc = begin(db, foi, s);

    if (rc == 0)
        rc = check_newest(db, foi, newest_id);
    if (rc < 0)
        return rc;
    summarize(s, result);
    rc = store(db, foi, s);
    return rc < 0 ? rc : mark(db, newest_id, ACT_UNDO);
}

int retrain_undo(sqlite3 *db, int64_t foi, struct ranking *r, struct retrain_result *result)
{
    struct retrain_settings newest, before;
    struct scores s;
    uint32_t n = 0;
    int rc = load_two(db, foi, &newest, &before);

    *result = (struct retrain_result){.id = before.id};
    if (rc == 0)
        rc = count_trees(db, foi, &n);
    scores_init(&s, n);
    if (rc == 0 && before.id != 0)
        rc = rank(db, r, before.last_label, &s, result);
    else if (rc == 0)
        rc = load(db, foi, "detector_score, detector_verdict", n, s.score, s.is_anomaly);
    if (rc == 0)
        rc = commit(db, write_undo(db, foi, newest.id, &s, result));
    scores_release(&s);
    return rc;
}

/* -------------------------------------------------------------------------------- redo */

int retrain_find(sqlite3 *db, int64_t foi, int64_t id, struct retrain_settings *as)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db,
                           "SELECT id, learner, features, seed, last_label, at, " LEARNT_COLUMNS
                           " FROM retrain WHERE foi = ? AND id = ?",
                           &query);

    *as = (struct retrain_settings){0};
    if (rc == 0)
        rc = rundb_bind(db, query, "ii", foi, id);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        rc = take_settings(query, as);
    else if (rc == 0)
        rc = err_set(ERR_NOT_FOUND, "there is no retrain %lld", (long long)id);
    sqlite3_finalize(query);
    return rc;
}

static int write_redo(sqlite3 *db, const struct ranking *r, int64_t id, struct scores *s,
                      struct retrain_result *result)
{
    struct act next;
    int rc = begin(db, r->foi, s);

    if (rc < 0)
        return rc;
    rc = acts_next(db, r->foi, ACT_REDO, &next);
    if (rc == ERR_NOT_FOUND || (rc == 0 && next.retrain != id))
        rc = err_set(ERR_EXISTS, "the labels were changed meanwhile; nothing is redone");
    if (rc < 0)
        return rc;
    summarize(s, result);
    rc = store(db, r->foi, s);
    return rc < 0 ? rc : mark(db, id, ACT_REDO);
}

int retrain_redo(sqlite3 *db, const struct retrain_settings *as, struct ranking *r,
                 struct retrain_result *result)
{
    struct scores s;
    int rc;

    *result = (struct retrain_result){.id = as->id};
    scores_init(&s, r->n);
    rc = rank(db, r, as->last_label, &s, result);
    if (rc == 0)
        rc = commit(db, write_redo(db, r, as->id, &s, result));
    scores_release(&s);
    return rc;
}
