/* snag evaluate -- the scores of a run against a person's labels. */
#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "detect/auc.h"
#include "detect/svm.h"
#include "learn/query.h"
#include "run/rundir.h"
#include "view/executions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a line is of an execution of this function of interest: where it names none, it is. */
static bool is_of(const struct label_line *line, const char *foi)
{
    return *line->foi == '\0' || strcmp(line->foi, foi) == 0;
}

/* ------------------------------------------------------------------------------ simulation */

/* What is learnt from known labels. The run is not changed: they live as long as this. */
struct simulation {
    struct learning learning;
    struct idmap id; /* key_quad(rank, thread, index, 0) of tree i is number i */
    const char *foi; /* as ids name it */
    bool *is_abnormal, *is_labelled;
    struct table *table; /* or NULL */
    json_t *curve;       /* or NULL */
    struct progress progress;
    size_t n_labels;
};

static void number_trees(struct simulation *s)
{
    const struct forest *f = &s->learning.ranking.work.forest;

    s->foi = s->learning.run.defs.region[f->region[0]].short_name;
    for (uint32_t t = 0; t < f->n_trees; t++) {
        const struct location *location = &s->learning.run.defs.location[f->location[t]];

        idmap_add(&s->id, key_quad(location->rank, location->thread, f->index[t], 0));
    }
    s->is_abnormal = mem_alloc(f->n_trees, sizeof *s->is_abnormal);
    s->is_labelled = mem_alloc(f->n_trees, sizeof *s->is_labelled);
}

static int take_answer(void *ctx, const struct label_line *line)
{
    struct simulation *s = ctx;
    uint32_t at = idmap_find(&s->id, key_quad(line->rank, line->thread, line->index, 0));

    if (!is_of(line, s->foi))
        return 0;
    if (at == IDMAP_NONE)
        return err_set(ERR_NOT_FOUND, "the run has no execution '%s'", line->id);
    if (line->label == LABEL_NONE)
        return err_set(ERR_FORMAT, "'%s' has no label", line->id);
    if (s->is_labelled[at] && s->is_abnormal[at] != (line->label == LABEL_ABNORMAL))
        return err_set(ERR_FORMAT, "'%s' is labelled both ways", line->id);
    s->is_labelled[at] = true;
    s->is_abnormal[at] = line->label == LABEL_ABNORMAL;
    return 0;
}

/* An oracle must have an answer to every question; what = what would ask. */
static int check_all_labelled(const struct simulation *s, const char *what)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < s->id.n; t++)
        n += !s->is_labelled[t];
    return n == 0
               ? 0
               : err_set(ERR_RANGE, "%u of %u executions have no label; %s", n, s->id.n, what);
}

/* The labels of all executions, or ERR_RANGE: what = what would ask for those that lack one. */
static int read_answers(struct simulation *s, const struct settings *settings, const char *what)
{
    int rc;

    number_trees(s);
    rc = label_file_read(settings->learning.labels, take_answer, s);
    return rc == 0 ? check_all_labelled(s, what) : rc;
}

static bool tell(void *ctx, const struct simulate_point *point)
{
    struct simulation *s = ctx;

    progress_add(&s->progress, point->n_labels - s->n_labels);
    s->n_labels = point->n_labels;
    if (s->table) {
        table_cell(s->table, "%zu", point->n_labels);
        table_cell(s->table, "%.3f", point->all.roc);
        table_cell(s->table, "%.3f", point->all.pr);
        table_cell(s->table, isnan(point->unlabelled_pr) ? "none left" : "%.3f",
                   point->unlabelled_pr);
        return true;
    }
    json_array_append_new(
        s->curve, json_pack("{s:I, s:f, s:f, s:o}", "labels", (json_int_t)point->n_labels,
                            "roc_auc", point->all.roc, "pr_auc", point->all.pr,
                            "unlabelled_pr_auc", json_number(point->unlabelled_pr)));
    return true;
}

static void print_curve(struct simulation *s, int rc)
{
    json_t *first = json_array_get(s->curve, 0);

    if (s->table && rc < 0)
        table_free(s->table);
    else if (s->table)
        table_print(s->table, stdout);
    else if (rc == 0)
        print_json(json_pack("{s:O, s:O, s:s, s:s, s:O}", "roc_auc",
                             json_object_get(first, "roc_auc"), "pr_auc",
                             json_object_get(first, "pr_auc"), "learner",
                             s->learning.ranking.learner_name, "features",
                             s->learning.ranking.features_name, "curve", s->curve),
                   false);
    json_decref(s->curve);
}

static int play(struct simulation *s, const struct settings *settings)
{
    size_t batch = settings->learning.batch;
    int rc = read_answers(s, settings, "a simulation may ask for any");

    if (rc < 0)
        return rc;
    if (settings->is_json)
        s->curve = json_array();
    else
        s->table = table_new("rrrr", "labels", "ROC-AUC", "PR-AUC", "PR-AUC unlabelled");
    progress_begin(&s->progress, "labelling", "executions", settings->learning.simulate);
    rc = simulate(&s->learning.ranking.learner, s->is_abnormal, settings->learning.simulate,
                  batch, tell, s);
    progress_end(&s->progress);
    print_curve(s, rc);
    return rc;
}

static void print_supervised(const struct simulation *s, const struct svm_opts *opts,
                             const struct auc *auc, bool is_json)
{
    const char *features = s->learning.ranking.features_name;

    if (is_json)
        print_json(json_pack("{s:f, s:f, s:s, s:I, s:f, s:f, s:I, s:I}", "roc_auc", auc->roc,
                             "pr_auc", auc->pr, "features", features, "folds",
                             (json_int_t)opts->folds, "cost", opts->cost, "gamma", opts->gamma,
                             "abnormal", (json_int_t)auc->n_abnormal, "normal",
                             (json_int_t)auc->n_normal),
                   false);
    else
        print("ROC-AUC %.3f, PR-AUC %.3f by a supervised SVM on the features %s (C %g, gamma "
              "%.4g), each of %u parts by the others' labels; %zu of %zu executions abnormal\n",
              auc->roc, auc->pr, features, opts->cost, opts->gamma, opts->folds,
              auc->n_abnormal, auc->n_abnormal + auc->n_normal);
}

/* The last row of the papers' table 3. */
static int supervise(struct simulation *s, const struct settings *settings)
{
    const struct ranking *r = &s->learning.ranking;
    struct svm_opts opts = svm_default();
    double *score;
    struct auc auc;
    int rc = read_answers(s, settings, "a supervised machine learns from all");

    if (rc < 0)
        return rc;
    opts.gamma = r->learnt.gamma;
    opts.seed = settings->seed;
    score = mem_alloc(r->n, sizeof *score);
    rc = svm_cross_validate(r->x, s->is_abnormal, &opts, s->learning.pool, score);
    if (rc == 0)
        rc = auc_compute(score, s->is_abnormal, r->n, &auc);
    if (rc == 0)
        print_supervised(s, &opts, &auc, settings->is_json);
    free(score);
    return rc;
}

static int simulation_run(const struct settings *settings)
{
    struct simulation s = {.table = NULL};
    struct settings said = *settings;
    int rc = learning_open(&s.learning, settings, false);

    if (settings->learning.is_supervised) /* it has the matrix, too */
        said.learning.learner = "ocsvm";
    if (rc == 0)
        rc = learning_rank(&s.learning, &said);
    if (rc == 0)
        rc = settings->learning.is_supervised ? supervise(&s, settings) : play(&s, settings);
    learning_close(&s.learning);
    idmap_release(&s.id);
    free(s.is_abnormal);
    free(s.is_labelled);
    return rc;
}

/* ------------------------------------------------------------------------------ evaluation */

/* Scores and labels side by side; executions are found by rank, thread and index. */
struct evaluation {
    struct idmap id; /* key_quad(rank, thread, index, 0) */
    char foi[EXECUTION_ID_SIZE];
    double *score;
    bool *is_abnormal, *is_anomaly, *is_labelled;
    size_t cap, n_unlabelled;
};

static void add_execution(const struct execution *x, void *ctx)
{
    struct evaluation *e = ctx;
    uint32_t at = idmap_add(&e->id, key_quad(x->rank, x->thread, x->index, 0));

    snprintf(e->foi, sizeof e->foi, "%s", x->foi);
    if (at >= e->cap) {
        e->cap = e->cap ? 2 * e->cap : 1024;
        e->score = mem_resize(e->score, e->cap, sizeof *e->score);
        e->is_abnormal = mem_resize(e->is_abnormal, e->cap, sizeof *e->is_abnormal);
        e->is_anomaly = mem_resize(e->is_anomaly, e->cap, sizeof *e->is_anomaly);
        e->is_labelled = mem_resize(e->is_labelled, e->cap, sizeof *e->is_labelled);
    }
    e->score[at] = x->score;
    e->is_anomaly[at] = strcmp(x->verdict, "anomaly") == 0;
    e->is_labelled[at] = false;
}

static int take_label(void *ctx, const struct label_line *line)
{
    struct evaluation *e = ctx;
    bool is_abnormal = line->label == LABEL_ABNORMAL;
    uint32_t at = idmap_find(&e->id, key_quad(line->rank, line->thread, line->index, 0));

    if (!is_of(line, e->foi))
        return 0;
    if (at == IDMAP_NONE)
        return err_set(ERR_NOT_FOUND, "the run has no execution '%s'", line->id);
    if (e->is_labelled[at] && e->is_abnormal[at] != is_abnormal)
        return err_set(ERR_FORMAT, "'%s' is labelled both ways", line->id);
    e->is_labelled[at] = line->label != LABEL_NONE;
    e->is_abnormal[at] = is_abnormal;
    return 0;
}

/* Leaves only what has a label. Returns how many that are. */
static size_t keep_labelled(struct evaluation *e)
{
    size_t n = 0;

    for (uint32_t i = 0; i < e->id.n; i++) {
        if (!e->is_labelled[i])
            continue;
        e->score[n] = e->score[i];
        e->is_abnormal[n] = e->is_abnormal[i];
        e->is_anomaly[n++] = e->is_anomaly[i];
    }
    e->n_unlabelled = e->id.n - n;
    return n;
}

static void print_result(const struct evaluation *e, size_t n, const struct auc *auc,
                         bool is_json)
{
    size_t n_found = 0, n_flagged = 0;
    double precision, recall;

    for (size_t i = 0; i < n; i++) {
        n_flagged += e->is_anomaly[i];
        n_found += e->is_anomaly[i] && e->is_abnormal[i];
    }
    precision = n_flagged ? (double)n_found / (double)n_flagged : 0;
    recall = (double)n_found / (double)auc->n_abnormal;
    if (is_json) {
        print_json(json_pack("{s:f, s:f, s:I, s:I, s:I, s:I, s:f, s:f}", "roc_auc", auc->roc,
                             "pr_auc", auc->pr, "abnormal", (json_int_t)auc->n_abnormal,
                             "normal", (json_int_t)auc->n_normal, "unlabelled",
                             (json_int_t)e->n_unlabelled, "flagged", (json_int_t)n_flagged,
                             "precision", precision, "recall", recall),
                   false);
        return;
    }
    print("ROC-AUC %.3f, PR-AUC %.3f over %zu labelled executions, %zu of them abnormal\n",
          auc->roc, auc->pr, n, auc->n_abnormal);
    print("verdict: %zu anomal%s, %.0f %% of them abnormal; %.0f %% of the abnormal found\n",
          n_flagged, n_flagged == 1 ? "y" : "ies", 100 * precision, 100 * recall);
    if (e->n_unlabelled > 0)
        print("left out, without a label: %zu execution%s\n", e->n_unlabelled,
              text_plural(e->n_unlabelled));
}

static int evaluate(sqlite3 *db, const struct settings *settings, struct evaluation *e)
{
    struct execution_filter filter = selection_filter(settings);
    struct auc auc;
    size_t n;
    int64_t foi;
    int rc = executions_foi(db, filter.foi, &foi);

    filter.most = 0;
    if (rc == 0)
        rc = executions_each(db, &filter, add_execution, e);
    if (rc == 0)
        rc = label_file_read(settings->learning.labels, take_label, e);
    if (rc < 0)
        return rc;
    n = keep_labelled(e);
    rc = auc_compute(e->score, e->is_abnormal, n, &auc);
    if (rc == 0)
        print_result(e, n, &auc, settings->is_json);
    return rc;
}

int cmd_evaluate(const struct settings *settings)
{
    struct evaluation e = {.cap = 0};
    struct run run;
    int rc;

    if (settings->learning.labels == NULL)
        return err_set(ERR_USAGE, "labels are missing: --labels FILE (CSV with id and label)");
    if (settings->learning.simulate > 0 || settings->learning.is_supervised)
        return simulation_run(settings);
    rc = selection_open(&run, settings);
    if (rc == 0)
        rc = evaluate(run.db, settings, &e);
    run_close(&run);
    idmap_release(&e.id);
    free(e.score);
    free(e.is_abnormal);
    free(e.is_anomaly);
    free(e.is_labelled);
    return rc < 0 ? rc : STATUS_DONE;
}
