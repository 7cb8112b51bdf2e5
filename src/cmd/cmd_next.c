/* snag next -- which executions to look at and label next. */
#include "analysis/label_store.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "learn/query.h"
#include "view/executions.h"
#include "view/question_json.h"

#include <stdio.h>
#include <stdlib.h>

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
