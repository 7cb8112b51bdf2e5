/* snag model -- save what a run taught, and look into such a file. */
#include "analysis/foi_settings.h"
#include "analysis/label_store.h"
#include "detect/detector.h"
#include "learn/model_file.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ save */

static char *meta_text(sqlite3 *db, const char *key)
{
    sqlite3_stmt *query = NULL;
    char *text = NULL;

    if (rundb_prepare(db, run_sql_meta, &query) == 0 && rundb_bind(db, query, "t", key) == 0 &&
        sqlite3_step(query) == SQLITE_ROW)
        text = mem_copy_string(rundb_text(query, 0));
    sqlite3_finalize(query);
    return text ? text : mem_copy_string("");
}

/*
 * What a model is to hold: what holds in the run, or, if a learner is named, what that learns
 * from all labels there are.
 */
struct lesson {
    struct retrain_settings retrain; /* that holds; id 0: the detector's own scores do */
    const char *learner;
    int64_t last_label;  /* 0: none */
    uint32_t n_left_out; /* labels that nothing has learnt from */
};

/* Names of the rows of a table for which something holds, one after another. */
static void add_name(char *names, size_t size, const char *name)
{
    size_t n = strlen(names);

    snprintf(names + n, size - n, "%s'%s'", n ? ", " : "", name);
}

/* The detector that a model of what a learner learnt stands for. */
static const char *detector_of(const char *learner)
{
    for (size_t i = 0; detector_name(i); i++) {
        const struct detector_ops *ops = detector_find(detector_name(i));

        if (ops->learner && strcmp(ops->learner, learner) == 0)
            return ops->name;
    }
    return "";
}

static int check_detector(const struct foi_settings *analysed)
{
    const struct detector_ops *detector = detector_find(analysed->detector);
    char names[128] = "";

    if (detector && detector->learner)
        return 0;
    for (size_t i = 0; detector_name(i); i++)
        if (detector_find(detector_name(i))->learner)
            add_name(names, sizeof names, detector_name(i));
    return err_set(ERR_UNSUPPORTED, "the model of the detector '%s' cannot be kept, only of %s",
                   analysed->detector, names);
}

/* What corrects the detector's scores needs these; what judges by features needs these. */
static int check_lesson(const struct foi_settings *analysed, const struct lesson *lesson)
{
    const struct learner_ops *learner = learner_find(lesson->learner);
    const struct feature_ops *features =
        feature_find(lesson->retrain.id ? lesson->retrain.features : analysed->features);
    const char *detector = detector_of(lesson->learner);
    char names[128] = "";

    if (!learner->needs_matrix)
        return strcmp(detector, analysed->detector) == 0
                   ? 0
                   : err_set(ERR_UNSUPPORTED,
                             "what the learner '%s' learnt can be kept with the detector '%s', "
                             "not with '%s' (--learner takes another)",
                             learner->name, detector, analysed->detector);
    if (features && features->is_portable)
        return 0;
    for (size_t i = 0; feature_name(i); i++)
        if (feature_find(feature_name(i))->is_portable)
            add_name(names, sizeof names, feature_name(i));
    return err_set(
        ERR_UNSUPPORTED,
        "what the learner '%s' learnt on the features '%s' cannot be kept, only on %s",
        learner->name, analysed->features, names);
}

/* The default is to judge as the run does. */
static int choose_lesson(const struct learning *l, const struct settings *settings,
                         struct lesson *lesson)
{
    struct retrain_settings before;
    struct foi_settings analysed;
    int rc = foi_settings_load(l->run.db, l->foi, &analysed);

    *lesson = (struct lesson){.learner = settings->learning.learner, .last_label = LABEL_LAST};
    if (rc == 0 && settings->learning.learner == NULL) {
        rc = retrain_before(l->run.db, l->foi, &lesson->retrain, &before);
        rc = rc == ERR_NOT_FOUND ? 0 : rc;
        lesson->last_label = lesson->retrain.last_label;
        if (rc == 0 && lesson->retrain.id == 0)
            rc = check_detector(&analysed);
        if (rc == 0)
            lesson->learner = lesson->retrain.id ? lesson->retrain.learner
                                                 : detector_find(analysed.detector)->learner;
    }
    return rc < 0 ? rc : check_lesson(&analysed, lesson);
}

static int rank_lesson(struct learning *l, const struct settings *settings,
                       const struct lesson *lesson)
{
    struct settings as = *settings;

    as.learning.learner = lesson->learner;
    return lesson->retrain.id ? learning_rank_as(l, &as, &lesson->retrain)
                              : learning_rank(l, &as);
}

/* Labels that are not as they were for the lesson. */
static int count_left_out(struct learning *l, const signed char *label, struct lesson *lesson)
{
    uint32_t n = l->ranking.n;
    signed char *now = mem_alloc(n, 1);
    int64_t newest;
    int rc = label_store_load(l->run.db, l->foi, LABEL_LAST, n, now, &newest);

    for (uint32_t t = 0; rc == 0 && t < n; t++)
        lesson->n_left_out += label[t] != now[t];
    free(now);
    return rc;
}

/* What was learnt from the labels of the run; without any it judges as the detector did. */
static int learn(struct learning *l, struct lesson *lesson, struct model *m)
{
    struct ranking *r = &l->ranking;
    signed char *label = mem_alloc(r->n, 1);
    int64_t newest;
    int rc = label_store_load(l->run.db, l->foi, lesson->last_label, r->n, label, &newest);

    for (uint32_t t = 0; t < r->n; t++) {
        m->n_abnormal += label[t] == LABEL_ABNORMAL;
        m->n_normal += label[t] == LABEL_NORMAL;
    }
    if (rc == 0)
        rc = count_left_out(l, label, lesson);
    if (rc == 0)
        rc = learner_keep(&r->learner, label, m);
    free(label);
    return rc;
}

/* Moves what the ranking holds into a model. */
static int model_of(struct learning *l, struct model *m)
{
    struct scoring *w = &l->ranking.work;
    uint32_t root = w->model.paths.region[0];
    char now[32];

    label_now(now);
    m->foi = mem_copy_string(l->run.defs.region[root].name);
    m->snag = mem_copy_string(SNAG_VERSION);
    m->made = mem_copy_string(now);
    m->trace = meta_text(l->run.db, "trace");
    m->n_trees = w->forest.n_trees;
    for (uint32_t r = 0; r < l->run.defs.names.n; r++)
        names_add(&m->regions, l->run.defs.names.name[r]);
    m->residual = w->model;
    m->yardstick = w->yardstick;
    w->model = (struct residual_model){0};
    w->yardstick = (struct yardstick){0};
    m->features = mem_copy_string(l->ranking.features_name);
    m->detector = mem_copy_string(detector_of(l->ranking.learner_name));
    m->embedding = w->embedding;
    w->embedding = (struct stack2vec){0};
    return 0;
}

static void print_saved(const struct settings *settings, const struct model *m,
                        const struct lesson *lesson)
{
    const char *run = settings->args[1], *file = settings->args[2];
    bool one = lesson->n_left_out == 1;

    if (settings->is_json) {
        print_json(json_pack("{s:o, s:o, s:I, s:I, s:I, s:I}", "model", json_text(file), "foi",
                             json_text(m->foi), "trees", (json_int_t)m->n_trees, "abnormal",
                             (json_int_t)m->n_abnormal, "normal", (json_int_t)m->n_normal,
                             "left_out", (json_int_t)lesson->n_left_out),
                   false);
        return;
    }
    print("%s: %u executions of %s, %u abnormal and %u normal labels\n", file, m->n_trees,
          m->foi, m->n_abnormal, m->n_normal);
    if (lesson->n_left_out > 0)
        print("%u label%s of the run %s not in it, as its scores are not learnt from %s: 'snag "
              "retrain %s' does that\n",
              lesson->n_left_out, one ? "" : "s", one ? "is" : "are", one ? "it" : "them", run);
}

static int save(const struct settings *settings)
{
    struct settings run = *settings;
    struct learning l = {.foi = 0};
    struct model m = {.foi = NULL};
    struct lesson lesson;
    int rc;

    run.args = settings->args + 1;
    rc = learning_open(&l, &run, false);
    if (rc == 0)
        rc = choose_lesson(&l, settings, &lesson);
    if (rc == 0)
        rc = rank_lesson(&l, &run, &lesson);
    if (rc == 0)
        rc = learn(&l, &lesson, &m);
    if (rc == 0)
        rc = model_of(&l, &m);
    if (rc == 0)
        rc = model_file_write(settings->args[2], &m);
    if (rc == 0)
        print_saved(settings, &m, &lesson);
    model_release(&m);
    learning_close(&l);
    return rc;
}

/* ------------------------------------------------------------------------------------ info */

static void print_info(const struct model *m)
{
    char text[TEXT_SIZE];

    print("function of interest  %s\n", m->foi);
    print("learnt from           %s\n", m->trace);
    print("executions            %s\n", text_count(m->n_trees, text));
    print("usually take          %s\n", text_duration(m->residual.root_ns, text));
    print("call paths            %s\n", text_count(m->residual.paths.n, text));
    print("contexts              %s\n", text_count(m->residual.class_id.n, text));
    print("judged by             %s\n", m->detector);
    if (m->svm.support.rows > 0) {
        print("on the features       %s\n", m->features);
        print("support vectors       %zu of %zu numbers, gamma %.4g\n", m->svm.support.rows,
              m->svm.support.cols, m->svm.gamma);
    }
    if (m->embedding.n_words > 0)
        print("subtrees              %s\n", text_count(m->embedding.n_words, text));
    print("labels                %u abnormal, %u normal\n", m->n_abnormal, m->n_normal);
    print("made                  %s by snag %s\n", m->made, m->snag);
}

static int info(const struct settings *settings)
{
    struct model m;
    int rc = model_file_read(settings->args[1], &m);

    if (rc == 0 && settings->is_json)
        print_json(
            json_pack("{s:o, s:o, s:I, s:f, s:I, s:I, s:o, s:o, s:I, s:I, s:f, s:I, s:I, s:o, "
                      "s:o}",
                      "foi", json_text(m.foi), "trace", json_text(m.trace), "trees",
                      (json_int_t)m.n_trees, "root_ns", m.residual.root_ns, "paths",
                      (json_int_t)m.residual.paths.n, "contexts",
                      (json_int_t)m.residual.class_id.n, "detector", json_text(m.detector),
                      "features", json_text(m.features), "support_vectors",
                      (json_int_t)m.svm.support.rows, "subtrees",
                      (json_int_t)m.embedding.n_words, "gamma", m.svm.gamma, "abnormal",
                      (json_int_t)m.n_abnormal, "normal", (json_int_t)m.n_normal, "made",
                      json_text(m.made), "snag", json_text(m.snag)),
            false);
    else if (rc == 0)
        print_info(&m);
    model_release(&m);
    return rc;
}

int cmd_model(const struct settings *settings)
{
    const char *verb = settings->args[0];
    int rc;

    if (strcmp(verb, "save") == 0 && settings->n_args == 3)
        rc = save(settings);
    else if (strcmp(verb, "info") == 0 && settings->n_args == 2)
        rc = info(settings);
    else
        rc = err_set(ERR_USAGE, "snag model save RUN FILE, or snag model info FILE");
    return rc < 0 ? rc : STATUS_DONE;
}
