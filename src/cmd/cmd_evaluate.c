/* snag evaluate -- the scores of a run against a person's labels. */
#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "view/executions.h"
#include "cmd/selection.h"
#include "cmd/label_file.h"
#include "cmd/print.h"
#include "cmd/simulation.h"
#include "cmd/status.h"
#include "detect/auc.h"
#include "run/rundir.h"

#include <stdlib.h>
#include <string.h>

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

    if (*line->foi && strcmp(line->foi, e->foi) != 0)
        return 0; /* of another function of interest */
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
    if (settings->learning.simulate > 0)
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
