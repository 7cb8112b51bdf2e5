/* The run is not changed: labels live as long as the game. */
#include "cmd/simulation.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/label_file.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "learn/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct simulation {
    struct learning learning;
    struct idmap id; /* key_quad(rank, thread, index, 0) of tree i is number i */
    bool *is_abnormal, *is_labelled;
    struct table *table; /* or NULL */
    json_t *curve;       /* or NULL */
    struct progress progress;
    size_t n_labels;
};

static void number_trees(struct simulation *s)
{
    const struct forest *f = &s->learning.ranking.work.forest;

    for (uint32_t t = 0; t < f->n_trees; t++) {
        const struct location *location = &s->learning.run.defs.location[f->location[t]];

        idmap_add(&s->id, key_quad(location->rank, location->thread, f->index[t], 0));
    }
    s->is_abnormal = mem_alloc(f->n_trees, sizeof *s->is_abnormal);
    s->is_labelled = mem_alloc(f->n_trees, sizeof *s->is_labelled);
}

static int take_label(void *ctx, const struct label_line *line)
{
    struct simulation *s = ctx;
    uint32_t at = idmap_find(&s->id, key_quad(line->rank, line->thread, line->index, 0));

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

/* An oracle must have an answer to every question. */
static int check_all_labelled(const struct simulation *s)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < s->id.n; t++)
        n += !s->is_labelled[t];
    return n == 0 ? 0
                  : err_set(ERR_RANGE,
                            "%u of %u executions have no label; a simulation may ask for any",
                            n, s->id.n);
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
    int rc;

    number_trees(s);
    rc = label_file_read(settings->learning.labels, take_label, s);
    if (rc == 0)
        rc = check_all_labelled(s);
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

int simulation_run(const struct settings *settings)
{
    struct simulation s = {.table = NULL};
    int rc = learning_open(&s.learning, settings, false);

    if (rc == 0)
        rc = learning_rank(&s.learning, settings);
    if (rc == 0)
        rc = play(&s, settings);
    learning_close(&s.learning);
    idmap_release(&s.id);
    free(s.is_abnormal);
    free(s.is_labelled);
    return rc;
}
