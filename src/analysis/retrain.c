/*
 * Three steps: a ranking is opened (the scores come from the database, everything else from the
 * columns and the model), a learner ranks by the labels, and again without each of the last
 * steps of the undo log, and scores and verdicts are written. The ranking is computed first;
 * what it replaces is read in the transaction that writes.
 */
#include "analysis/retrain.h"

#include "analysis/label_store.h"
#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/progress.h"
#include "base/text.h"
#include "detect/detector.h"
#include "detect/ocsvm.h"
#include "detect/rbf.h"
#include "detect/tails.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LEARNER "reasons"
#define CALIBRATED "residual" /* the detector whose scores are in nats */

/* ---------------------------------------------------------------------------------- ranking */

/* The detector's scores, and which of them it called anomalies; counts those. */
static int load_scores(sqlite3 *db, int64_t foi, double *score, bool *is_anomaly, uint32_t n,
                       uint32_t *n_anomalies)
{
    sqlite3_stmt *query = NULL;
    uint32_t t = 0;
    int rc = rundb_query(db, &query,
                         "SELECT detector_score, detector_verdict = 'anomaly' FROM execution "
                         "WHERE foi = ? ORDER BY tree",
                         "i", foi);

    *n_anomalies = 0;
    while (rc == 0 && t < n && sqlite3_step(query) == SQLITE_ROW) {
        score[t] = sqlite3_column_double(query, 0);
        is_anomaly[t] = sqlite3_column_int(query, 1) != 0;
        *n_anomalies += is_anomaly[t++];
    }
    if (rc == 0 && t < n)
        rc = err_set(ERR_FORMAT, "damaged run: %u of %u executions have a score", t, n);
    sqlite3_finalize(query);
    return rc;
}

/*
 * The detector's scores as tail probabilities. Returns its threshold as one; where executions
 * were judged one by one without any (scoring_judge), one that leaves as many above.
 */
static double calibrate(struct ranking *r, const struct foi_settings *s, uint32_t n_anomalies)
{
    if (strcmp(s->detector, CALIBRATED) == 0) {
        memcpy(r->prior, r->detector, r->n * sizeof *r->prior);
        return isfinite(s->threshold) ? s->threshold
                                      : threshold_between(r->prior, r->n, n_anomalies);
    }
    tail_ranks(r->detector, r->n, r->prior);
    return -log((n_anomalies + 0.5) / r->n); /* between the last above and the first below */
}

/* What was said, or what the analysis had for the same vectors, or what suits them. */
static double choose_gamma(const struct ranking *r, const struct foi_settings *s,
                           const struct ranking_opts *opts)
{
    const struct stack2vec_opts *was = &s->learnt.embedding, *is = &r->work.embedding.opts;
    bool is_same = strcmp(s->features, r->features_name) == 0 && was->dims == is->dims &&
                   was->epochs == is->epochs && was->learning_rate == is->learning_rate &&
                   was->negatives == is->negatives;

    if (opts->gamma > 0)
        return opts->gamma;
    return is_same && s->learnt.gamma > 0 ? s->learnt.gamma : rbf_gamma(r->x);
}

static int describe(struct ranking *r, const struct learner_ops *ops,
                    const struct feature_ops *features, struct pool *pool)
{
    struct scoring *w = &r->work;
    struct reasons_input input = scoring_reasons(w);

    reasons_find(&r->reasons, &input, true);
    return ops->needs_matrix ? scoring_matrix(w, features, pool, &r->x) : 0;
}

int ranking_open(struct ranking *r, sqlite3 *db, const struct columns *columns,
                 const struct definitions *defs, int64_t foi, const struct ranking_opts *opts)
{
    const char *name = opts->learner ? opts->learner : DEFAULT_LEARNER;
    const struct learner_ops *ops = learner_find(name);
    const struct feature_ops *features;
    struct learner_input input = {.seed = opts->seed, .pool = opts->pool};
    struct foi_settings settings;
    uint32_t n_anomalies;
    char names[128];
    int rc = foi_settings_load(db, foi, &settings);

    if (ops == NULL)
        return err_set(ERR_USAGE, "no such learner: '%s'; there are %s", name,
                       text_names(learner_name, names, sizeof names));
    if (rc < 0)
        return rc;
    features = feature_find(opts->features ? opts->features : settings.features);
    if (features == NULL)
        return err_set(ERR_USAGE, "no such features: '%s'; there are %s",
                       opts->features ? opts->features : settings.features,
                       text_names(feature_name, names, sizeof names));
    r->work.embedding.opts = opts->embedding;
    rc = run_scoring_load(&r->work, db, columns, defs, foi,
                          ops->needs_matrix && features->needs_bags);
    if (rc < 0)
        return rc;
    *r = (struct ranking){.foi = foi,
                          .n = r->work.forest.n_trees,
                          .learner_name = ops->name,
                          .features_name = ops->needs_matrix ? features->name : "residual",
                          .work = r->work};
    r->detector = mem_alloc(r->n, sizeof *r->detector);
    r->is_anomaly = mem_alloc(r->n, sizeof *r->is_anomaly);
    r->prior = mem_alloc(r->n, sizeof *r->prior);
    snprintf(r->detector_name, sizeof r->detector_name, "%.31s", settings.detector);
    rc = load_scores(db, foi, r->detector, r->is_anomaly, r->n, &n_anomalies);
    if (rc < 0)
        return rc;
    input.threshold = calibrate(r, &settings, n_anomalies);
    rc = describe(r, ops, features, opts->pool);
    if (rc == 0 && ops->needs_matrix) {
        input.gamma = r->learnt.gamma = choose_gamma(r, &settings, opts);
        input.nu = r->learnt.nu = opts->nu > 0 ? opts->nu : settings.learnt.nu;
    }
    r->learnt.embedding = r->work.embedding.opts;
    input.n = r->n;
    input.reasons = &r->reasons;
    input.x = r->x;
    input.prior = r->prior;
    input.is_anomaly = r->is_anomaly;
    input.machine_threshold =
        ops == learner_find(settings.detector) && features == feature_find(settings.features)
            ? settings.told_threshold
            : NAN;
    input.is_threshold_exact =
        strcmp(settings.detector, CALIBRATED) == 0 && isfinite(settings.threshold);
    return rc < 0 ? rc : learner_init(&r->learner, ops, &input);
}

void ranking_close(struct ranking *r)
{
    learner_release(&r->learner);
    reasons_release(&r->reasons);
    scoring_release(&r->work);
    free(r->x.x);
    free(r->detector);
    free(r->is_anomaly);
    free(r->prior);
    *r = (struct ranking){0};
}

double ranking_nu(const struct ranking *r)
{
    return r->learnt.nu > 0 ? r->learnt.nu : OCSVM_NU;
}

/* ------------------------------------------------------------------------ effects of labels */

/* What holds without an act is asked of the log of labels, as a label may replace another. */

struct label_effects {
    struct label_effect of[LABEL_EFFECTS_MAX_ACTS]; /* the oldest first */
    uint32_t n;
    bool *without[LABEL_EFFECTS_MAX_ACTS]; /* [trees] is an anomaly without it; or NULL */
    signed char *label;                    /* [trees] scratch */
};

/* Of labels of what there is not (any more) nothing can be said. */
static int load_acts(struct label_effects *e, sqlite3 *db, int64_t foi, uint32_t n_trees)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_undo_log_to_learn, "ii", foi,
                         (int64_t)LABEL_EFFECTS_MAX_ACTS);

    while (rc == 0 && e->n < LABEL_EFFECTS_MAX_ACTS && sqlite3_step(query) == SQLITE_ROW) {
        int64_t tree = sqlite3_column_int64(query, 3);

        if (sqlite3_column_type(query, 3) == SQLITE_NULL || tree < 0 || tree >= n_trees)
            continue;
        e->of[e->n++] =
            (struct label_effect){.first_label = sqlite3_column_int64(query, 0),
                                  .last_label = sqlite3_column_int64(query, 1),
                                  .n_labels = (uint32_t)sqlite3_column_int64(query, 2),
                                  .tree = (uint32_t)tree};
    }
    return rundb_close_query(db, query, rc, "cannot read what was labelled");
}

static int effects_find(struct label_effects *e, sqlite3 *db, const struct ranking *r)
{
    double *score = mem_alloc(r->n, sizeof *score), threshold;
    struct learner learner = {0};
    int rc = load_acts(e, db, r->foi, r->n);

    /* One of its own, as a machine that has learnt something starts from there the next time.
     */
    if (rc == 0 && e->n > 0 && learner_init(&learner, r->learner.ops, &r->learner.input) < 0)
        e->n = 0;

    e->label = mem_alloc(r->n, sizeof *e->label);
    for (uint32_t i = 0; rc == 0 && i < e->n; i++) {
        bool *without = mem_alloc(r->n, sizeof *without);

        rc = label_store_load_without(db, r->foi, e->of[i].first_label, r->n, e->label);
        if (rc == 0 && learner_rank(&learner, e->label, score, without, &threshold) == 0)
            e->without[i] = without;
        else
            free(without);
    }
    learner_release(&learner);
    free(score);
    return rc;
}

static void effects_count(struct label_effects *e, const struct ranking *r,
                          const signed char *label, const bool *is_anomaly,
                          const bool *was_anomaly)
{
    for (uint32_t i = 0; i < e->n; i++) {
        struct label_effect *x = &e->of[i];

        x->label = label[x->tree];
        for (uint32_t t = 0; e->without[i] && t < r->n; t++) {
            if (label[t] != LABEL_NONE || is_anomaly[t] == was_anomaly[t] ||
                is_anomaly[t] == e->without[i][t])
                continue;
            if (x->n_moved < LABEL_EFFECTS_TREES)
                x->moved[x->n_moved] = t;
            x->n_moved++;
        }
    }
}

static void effects_release(struct label_effects *e)
{
    for (uint32_t i = 0; i < e->n; i++)
        free(e->without[i]);
    free(e->label);
    *e = (struct label_effects){0};
}

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
    rc = rundb_query(db, &query, sql, "i", foi);
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

    return ORDER(y->after, x->after) ?: ORDER(x->tree, y->tree);
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

    text_utc_now(at);
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
    effects_count(effects, r, s->label, s->is_anomaly, s->was_anomaly);
    memcpy(result->effect, effects->of, sizeof result->effect);
    result->n_effects = effects->n;
    rc = store(db, r->foi, s);
    if (rc == 0)
        rc = record(db, r, s, author, result);
    if (rc == 0)
        rc = undo_log_add_retrain(db, r->foi, result->id);
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
    rc = effects_find(&effects, db, r);
    if (rc == 0)
        rc = rank(db, r, LABEL_LAST, &s, result);
    if (rc == 0)
        rc = commit(db, write_run(db, r, author, &s, &effects, result));
    effects_release(&effects);
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
        rundb_query(db, &query,
                    "SELECT id, learner, features, seed, last_label, at, " LEARNT_COLUMNS
                    " FROM retrain WHERE foi = ? AND NOT is_undone ORDER BY id DESC LIMIT 2",
                    "i", foi);

    *newest = *before = (struct retrain_settings){0};
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

/* Somebody may have retrained, or undone, since it was looked up. */
static int check_newest(const struct retrain_settings *newest, int64_t id)
{
    return newest->id == id
               ? 0
               : err_set(ERR_EXISTS, "the run was retrained meanwhile; nothing is undone");
}

int retrain_to_undo(sqlite3 *db, int64_t foi, int64_t *id, struct retrain_settings *as)
{
    struct retrain_settings newest, before;
    int rc = load_two(db, foi, &newest, &before);

    *as = before.id ? before : newest;
    if (rc == 0 && *id != 0)
        rc = check_newest(&newest, *id);
    *id = newest.id;
    return rc;
}

static int mark(sqlite3 *db, int64_t id, enum act_way way)
{
    int rc = rundb_run(db, "UPDATE retrain SET is_undone = ? WHERE id = ?", "ii",
                       (int64_t)(way == ACT_UNDO), id);

    return rc < 0 ? rc : undo_log_turned_retrain(db, id, way);
}

static int write_undo(sqlite3 *db, int64_t foi, int64_t id, struct scores *s,
                      struct retrain_result *result)
{
    struct retrain_settings newest;
    int rc = begin(db, foi, s);

    if (rc == 0)
        rc = retrain_newest(db, foi, &newest);
    if (rc == 0)
        rc = check_newest(&newest, id);
    if (rc < 0)
        return rc;
    summarize(s, result);
    rc = store(db, foi, s);
    return rc < 0 ? rc : mark(db, id, ACT_UNDO);
}

int retrain_undo(sqlite3 *db, int64_t foi, int64_t id, struct ranking *r,
                 struct retrain_result *result)
{
    struct retrain_settings newest, before;
    struct scores s;
    int64_t n_trees = 0;
    uint32_t n;
    int rc = load_two(db, foi, &newest, &before);

    *result = (struct retrain_result){.id = before.id};
    if (rc == 0)
        rc = check_newest(&newest, id);
    if (rc == 0)
        rc = rundb_number(db, &n_trees, "SELECT trees FROM foi WHERE id = ?", "i", foi);
    n = (uint32_t)n_trees;
    scores_init(&s, n);
    if (rc == 0 && before.id != 0)
        rc = rank(db, r, before.last_label, &s, result);
    else if (rc == 0)
        rc = load(db, foi, "detector_score, detector_verdict", n, s.score, s.is_anomaly);
    if (rc == 0)
        rc = commit(db, write_undo(db, foi, id, &s, result));
    scores_release(&s);
    return rc;
}

/* -------------------------------------------------------------------------------- redo */

int retrain_find(sqlite3 *db, int64_t foi, int64_t id, struct retrain_settings *as)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query,
                         "SELECT id, learner, features, seed, last_label, at, " LEARNT_COLUMNS
                         " FROM retrain WHERE foi = ? AND id = ?",
                         "ii", foi, id);

    *as = (struct retrain_settings){0};
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
    rc = undo_log_next(db, r->foi, ACT_REDO, &next);
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
