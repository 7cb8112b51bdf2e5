/* snag retrain -- the ranking anew from the labels, what changed by it, and taking it back. */
#include "analysis/label_store.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "view/executions.h"
#include "view/retrain_json.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/status.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_PRINTED 25u

static void print_changes(const struct learning *l, const struct retrain_result *result)
{
    struct table *table = table_new("lrrl", "execution", "score", "before", "now");

    for (size_t i = 0; i < result->n_changes && i < MAX_PRINTED; i++) {
        const struct retrain_change *change = &result->change[i];
        char id[EXECUTION_ID_SIZE], score[TEXT_SIZE];

        execution_id_of(id, &l->ranking.work.forest, &l->run.defs, change->tree);
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
    for (uint32_t i = 0; i < result->n_effects; i++) {
        const struct label_effect *e = &result->effect[i];
        char id[EXECUTION_ID_SIZE];

        execution_id_of(id, &l->ranking.work.forest, &l->run.defs, e->tree);
        print("by %s of %s",
              e->label == LABEL_NONE ? "taking back the label" : label_name(e->label), id);
        if (e->n_labels > 1)
            print(" and %u more", e->n_labels - 1);
        print(": %u other%s moved", e->n_moved, text_plural(e->n_moved));
        for (uint32_t m = 0; m < e->n_moved && m < LABEL_EFFECTS_TREES; m++) {
            execution_id_of(id, &l->ranking.work.forest, &l->run.defs, e->moved[m]);
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
    print_json(retrain_to_json(&l->ranking, &l->run.defs, result, SIZE_MAX), false);
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
    int rc = retrain_to_undo(l->run.db, l->foi, &as);

    if (rc == 0)
        rc = learning_rank_as(l, settings, &as);
    return rc < 0 ? rc : retrain_undo(l->run.db, l->foi, &l->ranking, result);
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
