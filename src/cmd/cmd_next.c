/* snag next -- which executions to look at and label next. */
#include "analysis/label_store.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/list.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "learn/gp.h"
#include "learn/query.h"

#include <stdio.h>
#include <stdlib.h>

/* Prints the executions of these trees in this order. */
static int print_trees(const struct learning *l, const uint32_t *tree, size_t n, bool is_json)
{
    struct table *table = is_json ? NULL : list_table();
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct forest *f = &l->ranking.work.forest;
        const struct location *location = &l->run.defs.location[f->location[tree[i]]];

        rc = executions_one(l->run.db, l->foi, location->rank, location->thread,
                            f->index[tree[i]], is_json ? list_json : list_text, table);
    }
    if (table)
        table_print(table, stdout);
    return rc;
}

static int next(struct learning *l, const struct settings *settings)
{
    struct ranking *r = &l->ranking;
    size_t most = settings->top, n;
    signed char *label = mem_alloc(r->n, 1);
    double *score = mem_alloc(r->n, sizeof *score), threshold;
    bool *is_anomaly = mem_alloc(r->n, sizeof *is_anomaly);
    uint32_t *tree;
    int64_t newest;
    int rc;

    if (most > r->n)
        most = r->n;
    tree = mem_alloc(most, sizeof *tree);
    rc = label_store_load(l->run.db, l->foi, LABEL_LAST, r->n, label, &newest);
    if (rc == 0)
        rc = learner_rank(&r->learner, label, score, is_anomaly, &threshold);
    if (rc == 0) {
        n = query_next(&r->rows, score, r->prior, label, gp_opts_default().length, most, tree);
        rc = print_trees(l, tree, n, settings->is_json);
    }
    free(label);
    free(score);
    free(is_anomaly);
    free(tree);
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
