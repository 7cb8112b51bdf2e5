/* What holds without an act is asked of the log of labels, as a label may replace another. */
#include "analysis/label_effects.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "base/mem.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <stdlib.h>

/* Of labels of what there is not (any more) nothing can be said. */
static int load_acts(struct label_effects *e, sqlite3 *db, int64_t foi, uint32_t n_trees)
{
    sqlite3_stmt *query = NULL;
    int step = SQLITE_DONE, rc = rundb_prepare(db, run_sql_acts_to_learn, &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "ii", foi, (int64_t)LABEL_EFFECTS_MAX_ACTS);
    while (rc == 0 && e->n < LABEL_EFFECTS_MAX_ACTS &&
           (step = sqlite3_step(query)) == SQLITE_ROW) {
        int64_t tree = sqlite3_column_int64(query, 3);

        if (sqlite3_column_type(query, 3) == SQLITE_NULL || tree < 0 || tree >= n_trees)
            continue;
        e->of[e->n++] =
            (struct label_effect){.first_label = sqlite3_column_int64(query, 0),
                                  .last_label = sqlite3_column_int64(query, 1),
                                  .n_labels = (uint32_t)sqlite3_column_int64(query, 2),
                                  .tree = (uint32_t)tree};
    }
    if (rc == 0 && step != SQLITE_DONE && step != SQLITE_ROW)
        rc = rundb_error(db, "cannot read what was labelled");
    sqlite3_finalize(query);
    return rc;
}

int label_effects_find(struct label_effects *e, sqlite3 *db, const struct ranking *r)
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

        rc = label_store_load_without(db, r->foi, e->of[i].first_label, e->of[i].last_label,
                                      r->n, e->label);
        if (rc == 0 && learner_rank(&learner, e->label, score, without, &threshold) == 0)
            e->without[i] = without;
        else
            free(without);
    }
    learner_release(&learner);
    free(score);
    return rc;
}

void label_effects_count(struct label_effects *e, const struct ranking *r,
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

void label_effects_release(struct label_effects *e)
{
    for (uint32_t i = 0; i < e->n; i++)
        free(e->without[i]);
    free(e->label);
    *e = (struct label_effects){0};
}
