/* snag model -- save what a run taught, and look into such a file. */
#include "analysis/foi_settings.h"
#include "analysis/label_store.h"
#include "learn/model_file.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ save */

static char *meta_text(sqlite3 *db, const char *key)
{
    sqlite3_stmt *query = NULL;
    char *text = NULL;

    if (rundb_prepare(db, "SELECT value FROM meta WHERE key = ?", &query) == 0 &&
        rundb_bind(db, query, "t", key) == 0 && sqlite3_step(query) == SQLITE_ROW)
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

static int check_keepable(const struct foi_settings *analysed, const struct lesson *lesson,
                          bool is_said)
{
    const struct feature_ops *features =
        feature_find(lesson->retrain.id ? lesson->retrain.features : analysed->features);

    if (strcmp(lesson->learner, "gp") == 0 && strcmp(analysed->detector, "residual") != 0)
        return err_set(ERR_UNSUPPORTED,
                       is_said || lesson->retrain.id
                           ? "what the learner 'gp' learnt can be kept with the detector "
                             "'residual', not with '%s'"
                           : "the model of the detector '%s' cannot be kept; those of "
                             "'residual' and 'ocsvm' can",
                       analysed->detector);
    if (strcmp(lesson->learner, "ocsvm") == 0 && (features == NULL || !features->is_portable))
        return err_set(ERR_UNSUPPORTED,
                       "a one-class SVM on the features '%s' cannot be kept; one on 'residual' "
                       "or 'stack2vec' can",
                       features ? features->name : analysed->features);
    return 0;
}

/* The default is to judge as the run does. */
static int choose_lesson(const struct learning *l, const struct settings *settings,
                         struct lesson *lesson)
{
    struct retrain_settings before;
    struct foi_settings analysed;
    int rc = foi_settings_load(l->run.db, l->foi, &analysed);

    *lesson = (struct lesson){.learner = settings->learner, .last_label = LABEL_LAST};
    if (rc == 0 && settings->learner == NULL) {
        rc = retrain_before(l->run.db, l->foi, &lesson->retrain, &before);
        rc = rc == ERR_NOT_FOUND ? 0 : rc;
        lesson->last_label = lesson->retrain.last_label;
        lesson->learner = lesson->retrain.id                        ? lesson->retrain.learner
                          : strcmp(analysed.detector, "ocsvm") == 0 ? "ocsvm"
                                                                    : "gp";
    }
    return rc < 0 ? rc : check_keepable(&analysed, lesson, settings->learner != NULL);
}

static int rank_lesson(struct learning *l, const struct settings *settings,
                       const struct lesson *lesson)
{
    struct settings as = *settings;

    as.learner = lesson->learner;
    return lesson->retrain.id ? learning_rank_as(l, &as, &lesson->retrain)
                              : learning_rank(l, &as);
}

static int learn_svm(struct ranking *r, const signed char *label, struct model *m)
{
    double *score = mem_alloc(r->n, sizeof *score);
    bool *is_anomaly = mem_alloc(r->n, sizeof *is_anomaly);
    int rc = learner_rank(&r->learner, label, score, is_anomaly, &m->threshold);

    if (rc == 0)
        learner_svm(&r->learner, &m->svm);
    free(score);
    free(is_anomaly);
    return rc;
}

static int learn_gp(const struct ranking *r, const signed char *label, struct model *m)
{
    struct gp_input input = {&r->rows, r->prior, label, learner_highest(r->n)};
    struct gp_opts opts = gp_opts_default();

    opts.seed = r->learner.input.seed;
    return gp_fit(&m->gp, &input, &opts);
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
        rc = r->learner.ops->needs_matrix ? learn_svm(r, label, m) : learn_gp(r, label, m);
    free(label);
    return rc;
}

/* Moves what the ranking holds into a model. */
static int model_of(struct learning *l, struct model *m)
{
    struct work *w = &l->ranking.work;
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
    m->detector = mem_copy_string(m->svm.support.rows > 0 ? "ocsvm" : "residual");
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
