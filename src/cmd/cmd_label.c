/*
 * snag label, next and retrain -- the circle of learning: what a person says of executions,
 * from the shell or from a file; what to ask next, as it would change most; the ranking anew
 * from the labels, what changed by it, and taking it back.
 */
#include "analysis/label_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "learn/query.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "view/executions.h"
#include "view/incident_list.h"
#include "view/results_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ label */

#define GROUP "group="

/* Labels on their way into the run. */
struct labels {
    struct learning learning;
    bool said_foi;
    struct label_entry *entry; /* [n] */
    size_t n, cap;
};

static void add(struct labels *l, int64_t foi, uint32_t rank, uint32_t thread, uint32_t index,
                enum label label)
{
    *mem_push(&l->entry, &l->n, &l->cap) =
        (struct label_entry){foi, rank, thread, index, label};
}

/* The function named in front of '#', or that of --foi, or the only one there is. */
static int foi_of(struct labels *l, const char *name, int64_t *foi)
{
    *foi = l->learning.foi;
    if (*name == '\0' && l->said_foi)
        return 0;
    return executions_foi(l->learning.run.db, *name ? name : NULL, foi);
}

static int take_line(void *ctx, const struct label_line *line)
{
    struct labels *l = ctx;
    int64_t foi;
    int rc = foi_of(l, line->foi, &foi);

    if (rc == 0)
        add(l, foi, line->rank, line->thread, line->index, line->label);
    return rc;
}

/* The members of "group=3", as they are now: each function has groups 1, 2, ... */
static int add_group(struct labels *l, const char *number, enum label label)
{
    struct execution_filter filter = {.rank = NO_RANK};
    struct groups all = {.n = 0};
    char *end;
    long long id = strtoll(number, &end, 10);
    size_t n_before = l->n;
    int rc = foi_of(l, "", &filter.foi_id);

    if (rc == 0)
        rc = groups_find(l->learning.run.db, &filter, &all);
    for (size_t i = 0; rc == 0 && i < all.n; i++)
        for (size_t k = 0; all.group[i].id == id && k < all.group[i].n; k++) {
            const struct group_member *x = &all.group[i].member[k];

            add(l, all.group[i].foi_id, x->rank, x->thread, x->index, label);
        }
    groups_release(&all);
    if (rc == 0 && (l->n == n_before || *end || end == number))
        return err_set(ERR_NOT_FOUND, "no group '%s' has an anomaly (snag list --groups)",
                       number);
    return rc;
}

/* "#4-40=abnormal", "group=3=normal" */
static int take_argument(struct labels *l, const char *text)
{
    char id[EXECUTION_ID_SIZE], foi_name[EXECUTION_ID_SIZE];
    const char *equals = strrchr(text, '=');
    uint32_t rank, thread, index;
    enum label label;
    int64_t foi = 0;
    int rc;

    if (equals == NULL || (size_t)(equals - text) >= sizeof id)
        return err_set(ERR_USAGE, "not a label: '%s' (they are written #4-40=abnormal)", text);
    snprintf(id, sizeof id, "%.*s", (int)(equals - text), text);
    rc = label_parse(equals + 1, &label);
    if (rc == 0 && strncmp(id, GROUP, strlen(GROUP)) == 0)
        return add_group(l, id + strlen(GROUP), label);
    if (rc == 0)
        rc = execution_parse(id, foi_name, sizeof foi_name, &rank, &thread, &index);
    if (rc == 0)
        rc = foi_of(l, foi_name, &foi);
    if (rc == 0)
        add(l, foi, rank, thread, index, label);
    return rc;
}

static int take_all(struct labels *l, const struct settings *settings)
{
    int rc =
        settings->learning.from ? label_file_read(settings->learning.from, take_line, l) : 0;

    for (int i = 1; rc == 0 && i < settings->n_args; i++)
        rc = take_argument(l, settings->args[i]);
    return rc;
}

/* ------------------------------------------------------------------------------ printing */

static void print_one(sqlite3_stmt *query, const char *foi, struct table *table)
{
    const char *label = rundb_text(query, LABEL_TEXT),
               *author = rundb_text(query, LABEL_AUTHOR);
    const char *at = rundb_text(query, LABEL_AT);
    char id[EXECUTION_ID_SIZE];

    execution_id(id, foi, (uint32_t)sqlite3_column_int64(query, LABEL_RANK),
                 (uint32_t)sqlite3_column_int64(query, LABEL_THREAD),
                 (uint32_t)sqlite3_column_int64(query, LABEL_INDEX));
    if (table == NULL) {
        print_json(json_pack("{s:o, s:o, s:o, s:o}", "id", json_text(id), "label",
                             json_text(label), "author", json_text(author), "at",
                             json_text(at)),
                   false);
        return;
    }
    table_cell(table, "%s", id);
    table_cell(table, "%s", label);
    table_cell(table, "%s", author);
    table_cell(table, "%s", at);
}

static int print_labels(sqlite3 *db, bool is_json)
{
    struct table *table = is_json ? NULL : table_new("llll", "execution", "label", "by", "at");
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, run_sql_labels, &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        print_one(query, rundb_text_or_null(query, LABEL_FOI_NAME), table);
    if (table)
        table_print(table, stdout);
    return rundb_close_query(db, query, rc, "cannot read the labels");
}

static void print_done(const struct settings *settings, size_t n)
{
    if (settings->is_json)
        print_json(json_pack("{s:o}", "labels", json_count(n)), false);
    else
        print("%zu label%s taken; 'snag retrain %s' learns from them\n", n, n == 1 ? "" : "s",
              settings->args[0]);
}

static int label_run(struct labels *l, const struct settings *settings)
{
    bool is_listing = settings->learning.from == NULL && settings->n_args == 1;
    int rc = learning_open(&l->learning, settings, !is_listing);

    l->said_foi = settings->foi.n > 0;
    if (rc == ERR_USAGE && settings->foi.n == 0)
        rc = 0; /* several functions: every id must name its own */
    if (rc == 0 && is_listing)
        return print_labels(l->learning.run.db, settings->is_json);
    if (rc == 0)
        rc = take_all(l, settings);
    if (rc == 0)
        rc = label_store_add(l->learning.run.db, l->entry, l->n, learning_author(settings));
    if (rc == 0)
        print_done(settings, l->n);
    return rc;
}

int cmd_label(const struct settings *settings)
{
    struct labels l = {.n = 0};
    int rc = label_run(&l, settings);

    learning_close(&l.learning);
    free(l.entry);
    return rc < 0 ? rc : STATUS_DONE;
}

/* ------------------------------------------------------------------------------------- next */

/* A question on its way to the screen. */
struct printed {
    const struct learning *learning;
    const struct question *question;
    struct table *table; /* or NULL: a line of JSON each */
    bool is_known;       /* n_moved is */
    uint32_t n_moved;
};

static void print_json_line(const struct execution *x, void *ctx)
{
    const struct printed *p = ctx;
    json_t *line = execution_to_json(x);

    json_object_set_new(line, "question",
                        question_to_json(p->question, &p->learning->ranking,
                                         &p->learning->run.defs,
                                         p->is_known ? &p->n_moved : NULL));
    print_json(line, false);
}

static void print_row(const struct execution *x, void *ctx)
{
    const struct printed *p = ctx;
    const struct scoring *work = &p->learning->ranking.work;
    char kind[REASON_SIZE], score[TEXT_SIZE];

    reasons_say(p->question->kind, &work->model, work->defs, kind);
    table_cell(p->table, "%s", x->id);
    table_cell(p->table, "%s", text_score(x->score, score));
    table_cell(p->table, "%s", question_name(p->question));
    table_cell(p->table, p->is_known ? "%u" : "-", p->n_moved);
    table_cell(p->table, "%s", kind);
    table_cell(p->table, "%s", x->why);
}

/* Prints the questions in this order. */
static int print_questions(const struct learning *l, const signed char *label,
                           const double *score, const struct question *question, size_t n,
                           bool is_json)
{
    struct printed p = {.learning = l,
                        .table = is_json ? NULL
                                         : table_new("lrlrll", "execution", "score", "asked as",
                                                     "moves", "kind", "why")};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct forest *f = &l->ranking.work.forest;
        uint32_t t = question[i].tree;
        const struct location *location = &l->run.defs.location[f->location[t]];

        p.question = &question[i];
        p.is_known = query_moved(&l->ranking.learner, label, score, p.question, &p.n_moved);
        rc = executions_one(l->run.db, l->foi, location->rank, location->thread, f->index[t],
                            is_json ? print_json_line : print_row, &p);
    }
    if (p.table)
        table_print(p.table, stdout);
    return rc;
}

static int next(struct learning *l, const struct settings *settings)
{
    struct ranking *r = &l->ranking;
    size_t most = settings->top, n;
    signed char *label = mem_alloc(r->n, 1);
    double *score = mem_alloc(r->n, sizeof *score), threshold;
    bool *is_anomaly = mem_alloc(r->n, sizeof *is_anomaly);
    struct question *question;
    int64_t newest;
    int rc;

    if (most > r->n)
        most = r->n;
    question = mem_alloc(most, sizeof *question);
    rc = label_store_load(l->run.db, l->foi, LABEL_LAST, r->n, label, &newest);
    if (rc == 0)
        rc = learner_rank(&r->learner, label, score, is_anomaly, &threshold);
    if (rc == 0) {
        n = query_next(&r->learner, label, score, most, question);
        rc = print_questions(l, label, score, question, n, settings->is_json);
    }
    free(label);
    free(score);
    free(is_anomaly);
    free(question);
    return rc;
}

int cmd_next(const struct settings *settings)
{
    struct learning l = {.foi = 0};
    int rc = learning_open(&l, settings, false);

    if (rc == 0)
        rc = learning_rank(&l, settings);
    if (rc == 0)
        rc = next(&l, settings);
    learning_close(&l);
    return rc < 0 ? rc : STATUS_DONE;
}

/* ---------------------------------------------------------------------------------- retrain */

#define MAX_PRINTED 25u

static void print_changes(const struct learning *l, const struct retrain_result *result)
{
    struct table *table = table_new("lrrl", "execution", "score", "before", "now");
    bool has_several = executions_have_several(l->run.db);

    for (size_t i = 0; i < result->n_changes && i < MAX_PRINTED; i++) {
        const struct retrain_change *change = &result->change[i];
        char id[EXECUTION_ID_SIZE], score[TEXT_SIZE];

        execution_id_of(id, &l->ranking.work.forest, &l->run.defs, has_several, change->tree);
        table_cell(table, "%s", id);
        table_cell(table, "%s", text_score(change->after, score));
        table_cell(table, "%s", text_score(change->before, score));
        table_cell(table, "%s", change->is_anomaly ? "anomaly" : "normal");
    }
    table_print(table, stdout);
    if (result->n_changes > MAX_PRINTED)
        print("and %zu more\n", result->n_changes - MAX_PRINTED);
}

/* "by abnormal of #0-40 and 2 more: 12 executions moved, #1-40, #0-41 ..." */
static void print_effects(const struct learning *l, const struct retrain_result *result)
{
    const struct forest *forest = &l->ranking.work.forest;
    bool has_several = executions_have_several(l->run.db);

    for (uint32_t i = 0; i < result->n_effects; i++) {
        const struct label_effect *e = &result->effect[i];
        char id[EXECUTION_ID_SIZE];

        execution_id_of(id, forest, &l->run.defs, has_several, e->tree);
        print("by %s of %s",
              e->label == LABEL_NONE ? "taking back the label" : label_name(e->label), id);
        if (e->n_labels > 1)
            print(" and %u more", e->n_labels - 1);
        print(": %u other%s moved", e->n_moved, text_plural(e->n_moved));
        for (uint32_t m = 0; m < e->n_moved && m < LABEL_EFFECTS_TREES; m++) {
            execution_id_of(id, forest, &l->run.defs, has_several, e->moved[m]);
            print("%s %s", m ? "," : ":", id);
        }
        print("%s\n", e->n_moved > LABEL_EFFECTS_TREES ? ", ..." : "");
    }
}

static void print_text(const struct learning *l, const struct retrain_result *result,
                       bool is_undo)
{
    char took[TEXT_SIZE];

    if (is_undo && result->id == 0)
        print("undone: the detector's own scores hold");
    else if (is_undo)
        print("undone: retrain %lld holds", (long long)result->id);
    else
        print("learnt from %u abnormal and %u normal in %s", result->n_abnormal,
              result->n_normal, text_duration((double)result->rank_ns, took));
    print("; %u anomal%s, %zu verdict%s changed\n", result->n_anomalies,
          result->n_anomalies == 1 ? "y" : "ies", result->n_changes,
          result->n_changes == 1 ? "" : "s");
    if (result->id != 0 && l->ranking.learnt.gamma > 0)
        print("one-class SVM on the features %s, gamma %.4g, nu %g; what is labelled normal is "
              "inside\n",
              l->ranking.features_name, l->ranking.learnt.gamma, ranking_nu(&l->ranking));
    if (result->n_changes > 0) {
        print_effects(l, result);
        print_changes(l, result);
    }
}

static void print_as_json(const struct learning *l, const struct retrain_result *result)
{
    print_json(retrain_to_json(&l->ranking, &l->run.defs, result,
                               executions_have_several(l->run.db), SIZE_MAX),
               false);
}

/* ------------------------------------------------------------------------------- history */

static void history_row(const json_t *row, struct table *table)
{
    static const char *const column[] = {"id",       "at",       "author", "learner",
                                         "features", "abnormal", "normal", "anomalies"};

    for (size_t c = 0; c < sizeof column / sizeof *column; c++) {
        const json_t *value = json_object_get(row, column[c]);

        if (json_is_integer(value))
            table_cell(table, "%lld", (long long)json_integer_value(value));
        else
            table_cell(table, "%s", json_string_value(value));
    }
    table_cell(table, "%s",
               json_integer_value(json_object_get(row, "is_undone")) ? "undone" : "");
}

static int print_history(const struct learning *l, bool is_json)
{
    struct table *table;
    json_t *history = NULL, *row;
    size_t i;
    int rc = retrain_history(l->run.db, l->foi, &history);

    if (rc < 0)
        return rc;
    table = table_new("rllllrrrl", "retrain", "at", "by", "learner", "features", "abnormal",
                      "normal", "anomalies", "");
    json_array_foreach(history, i, row)
    {
        if (is_json)
            print_json(json_incref(row), false);
        else
            history_row(row, table);
    }
    if (is_json)
        table_free(table);
    else
        table_print(table, stdout);
    json_decref(history);
    return 0;
}

/* --------------------------------------------------------------------------------- doing */

static int undo(struct learning *l, const struct settings *settings,
                struct retrain_result *result)
{
    struct retrain_settings as;
    int64_t id = 0;
    int rc = retrain_to_undo(l->run.db, l->foi, &id, &as);

    if (rc == 0)
        rc = learning_rank_as(l, settings, &as);
    return rc < 0 ? rc : retrain_undo(l->run.db, l->foi, id, &l->ranking, result);
}

static int retrain(struct learning *l, const struct settings *settings)
{
    struct retrain_result result = {.id = 0};
    int rc;

    if (settings->learning.is_undo) {
        rc = undo(l, settings, &result);
    } else {
        rc = learning_rank(l, settings);
        if (rc == 0)
            rc = retrain_run(l->run.db, &l->ranking, learning_author(settings), &result);
    }
    if (rc == 0 && settings->is_json)
        print_as_json(l, &result);
    else if (rc == 0)
        print_text(l, &result, settings->learning.is_undo);
    free(result.change);
    return rc;
}

int cmd_retrain(const struct settings *settings)
{
    struct learning l = {.foi = 0};
    int rc = learning_open(&l, settings, !settings->learning.is_history);

    if (rc == 0)
        rc = settings->learning.is_history ? print_history(&l, settings->is_json)
                                           : retrain(&l, settings);
    learning_close(&l);
    return rc < 0 ? rc : STATUS_DONE;
}
