#include "view/retrain_json.h"

#include "analysis/label_store.h"
#include "base/json.h"
#include "run/run_sql.h"
#include "view/row_json.h"

void execution_id_of(char out[EXECUTION_ID_SIZE], const struct forest *forest,
                     const struct definitions *defs, uint32_t t)
{
    const struct location *location = &defs->location[forest->location[t]];

    execution_id(out, NULL, location->rank, location->thread, forest->index[t]);
}

/* By which labels. */
static json_t *effects_json(const struct ranking *ranking, const struct definitions *defs,
                            const struct retrain_result *result)
{
    json_t *effects = json_array();

    for (uint32_t i = 0; i < result->n_effects; i++) {
        const struct label_effect *e = &result->effect[i];
        json_t *moved = json_array();
        char id[EXECUTION_ID_SIZE];

        for (uint32_t m = 0; m < e->n_moved && m < LABEL_EFFECTS_TREES; m++) {
            execution_id_of(id, &ranking->work.forest, defs, e->moved[m]);
            json_array_append_new(moved, json_pack("{s:o, s:I}", "id", json_text(id), "tree",
                                                   (json_int_t)e->moved[m]));
        }
        execution_id_of(id, &ranking->work.forest, defs, e->tree);
        json_array_append_new(effects,
                              json_pack("{s:o, s:I, s:s, s:I, s:I, s:o}", "id", json_text(id),
                                        "tree", (json_int_t)e->tree, "label",
                                        label_name(e->label), "labels", (json_int_t)e->n_labels,
                                        "n_moved", (json_int_t)e->n_moved, "moved", moved));
    }
    return effects;
}

json_t *retrain_to_json(const struct ranking *ranking, const struct definitions *defs,
                        const struct retrain_result *result, size_t most)
{
    json_t *changes = json_array();

    for (size_t i = 0; i < result->n_changes && i < most; i++) {
        const struct retrain_change *change = &result->change[i];
        char id[EXECUTION_ID_SIZE];

        execution_id_of(id, &ranking->work.forest, defs, change->tree);
        json_array_append_new(changes,
                              json_pack("{s:o, s:I, s:f, s:f, s:s}", "id", json_text(id),
                                        "tree", (json_int_t)change->tree, "score",
                                        change->after, "before", change->before, "verdict",
                                        change->is_anomaly ? "anomaly" : "normal"));
    }
    return json_pack(
        "{s:I, s:s*, s:s*, s:o, s:o, s:I, s:I, s:I, s:f, s:I, s:o, s:o}", "retrain",
        (json_int_t)result->id, "learner", ranking->learner_name, "features",
        ranking->features_name, "gamma",
        ranking->learnt.gamma > 0 ? json_number(ranking->learnt.gamma) : json_null(), "nu",
        ranking->learnt.gamma > 0 ? json_number(ranking_nu(ranking)) : json_null(), "abnormal",
        (json_int_t)result->n_abnormal, "normal", (json_int_t)result->n_normal, "anomalies",
        (json_int_t)result->n_anomalies, "rank_ns", (double)result->rank_ns, "n_changes",
        (json_int_t)result->n_changes, "changes", changes, "by",
        effects_json(ranking, defs, result));
}

int retrain_history(sqlite3 *db, int64_t foi, json_t **out)
{
    return rows_to_json(db, out, run_sql_retrains, "i", foi);
}
