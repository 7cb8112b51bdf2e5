/* snag retrain -- the ranking anew from the labels, what changed by it, and taking it back. */
#include "base/err.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/executions.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_PRINTED 25u

static void id_of(const struct learning *l, uint32_t tree, char out[EXECUTION_ID_SIZE])
{
    const struct forest *f = &l->ranking.work.forest;
    const struct location *location = &l->defs.location[f->location[tree]];

    execution_id(out, NULL, location->rank, location->thread, f->index[tree]);
}

static void print_changes(const struct learning *l, const struct retrain_result *result)
{
    struct table *table = table_new("lrrl", "execution", "score", "before", "now");

    for (size_t i = 0; i < result->n_changes && i < MOST_PRINTED; i++) {
        const struct retrain_change *change = &result->change[i];
        char id[EXECUTION_ID_SIZE];

        id_of(l, change->tree, id);
        table_cell(table, "%s", id);
        table_cell(table, "%.2f", change->after);
        table_cell(table, "%.2f", change->before);
        table_cell(table, "%s", change->is_anomaly ? "anomaly" : "normal");
    }
    table_print(table, stdout);
    if (result->n_changes > MOST_PRINTED)
        printf("and %zu more\n", result->n_changes - MOST_PRINTED);
}

static void print_text(const struct learning *l, const struct retrain_result *result,
                       bool is_undo)
{
    char took[TEXT_SIZE];

    if (is_undo && result->id == 0)
        printf("undone: the detector's own scores hold");
    else if (is_undo)
        printf("undone: retrain %lld holds", (long long)result->id);
    else
        printf("learnt from %u abnormal and %u normal in %s", result->n_abnormal,
               result->n_normal, text_duration((double)result->rank_ns, took));
    printf("; %u anomal%s, %zu verdict%s changed\n", result->n_anomalies,
           result->n_anomalies == 1 ? "y" : "ies", result->n_changes,
           result->n_changes == 1 ? "" : "s");
    if (result->id != 0 && l->ranking.learnt.gamma > 0)
        printf(
            "one-class SVM on the features %s, gamma %.4g; what is labelled normal is inside\n",
            l->ranking.features_name, l->ranking.learnt.gamma);
    if (result->n_changes > 0)
        print_changes(l, result);
}

static void print_as_json(const struct learning *l, const struct retrain_result *result)
{
    json_t *changes = json_array();

    for (size_t i = 0; i < result->n_changes; i++) {
        const struct retrain_change *change = &result->change[i];
        char id[EXECUTION_ID_SIZE];

        id_of(l, change->tree, id);
        json_array_append_new(changes,
                              json_pack("{s:o, s:f, s:f, s:s}", "id", json_text(id), "score",
                                        change->after, "before", change->before, "verdict",
                                        change->is_anomaly ? "anomaly" : "normal"));
    }
    print_json(json_pack("{s:I, s:s*, s:s*, s:o, s:I, s:I, s:I, s:f, s:o}", "retrain",
                         (json_int_t)result->id, "learner", l->ranking.learner_name, "features",
                         l->ranking.features_name, "gamma",
                         l->ranking.learnt.gamma > 0 ? json_real(l->ranking.learnt.gamma)
                                                     : json_null(),
                         "abnormal", (json_int_t)result->n_abnormal, "normal",
                         (json_int_t)result->n_normal, "anomalies",
                         (json_int_t)result->n_anomalies, "rank_ns", (double)result->rank_ns,
                         "changes", changes),
               false);
}

/* ------------------------------------------------------------------------------- history */

static const char *const history_column[] = {"id",      "at",        "author",
                                             "learner", "features",  "abnormal",
                                             "normal",  "anomalies", "is_undone"};
#define HISTORY_COLUMNS (sizeof history_column / sizeof *history_column)

static void history_row(sqlite3_stmt *query, struct table *table)
{
    json_t *json = table ? NULL : json_object();

    for (int c = 0; c < (int)HISTORY_COLUMNS; c++) {
        const char *text = (const char *)sqlite3_column_text(query, c);

        if (table)
            table_cell(table, "%s",
                       c < (int)HISTORY_COLUMNS - 1 ? text
                       : *text == '1'               ? "undone"
                                                    : "");
        else if (sqlite3_column_type(query, c) == SQLITE_INTEGER)
            json_object_set_new(json, history_column[c],
                                json_integer(sqlite3_column_int64(query, c)));
        else
            json_object_set_new(json, history_column[c], json_text(text));
    }
    if (json)
        print_json(json, false);
}

static int print_history(const struct learning *l, bool is_json)
{
    struct table *table = is_json
                              ? NULL
                              : table_new("rllllrrrl", "retrain", "at", "by", "learner",
                                          "features", "abnormal", "normal", "anomalies", "");
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(l->run.db,
                           "SELECT id, at, author, learner, features, abnormal, normal, "
                           "anomalies, is_undone FROM retrain WHERE foi = ? ORDER BY id",
                           &query);

    if (rc == 0)
        rc = rundb_bind(l->run.db, query, "i", l->foi);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        history_row(query, table);
    if (table)
        table_print(table, stdout);
    sqlite3_finalize(query);
    return rc;
}

/* --------------------------------------------------------------------------------- doing */

static int undo(struct learning *l, const struct settings *settings,
                struct retrain_result *result)
{
    struct retrain_settings newest, before;
    int rc = retrain_before(l->run.db, l->foi, &newest, &before);

    if (rc == 0)
        rc = learning_rank_as(l, settings, before.id ? &before : &newest);
    return rc < 0 ? rc : retrain_undo(l->run.db, l->foi, &l->ranking, result);
}

static int retrain(struct learning *l, const struct settings *settings)
{
    struct retrain_result result = {.id = 0};
    int rc;

    if (settings->is_undo) {
        rc = undo(l, settings, &result);
    } else {
        rc = learning_rank(l, settings);
        if (rc == 0)
            rc = retrain_run(l->run.db, &l->ranking, learning_author(settings), &result);
    }
    if (rc == 0 && settings->is_json)
        print_as_json(l, &result);
    else if (rc == 0)
        print_text(l, &result, settings->is_undo);
    free(result.change);
    return rc;
}

int cmd_retrain(const struct settings *settings)
{
    struct learning l = {.foi = 0};
    int rc = learning_open(&l, settings, !settings->is_history);

    if (rc == 0)
        rc =
            settings->is_history ? print_history(&l, settings->is_json) : retrain(&l, settings);
    learning_close(&l);
    return rc < 0 ? rc : STATUS_DONE;
}
