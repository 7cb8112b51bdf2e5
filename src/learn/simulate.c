/* The oracle is asked in rounds of `batch`; every round is a ranking of all executions. */
#include "learn/simulate.h"

#include "base/mem.h"
#include "learn/query.h"

#include <math.h>
#include <stdlib.h>

struct game {
    struct learner *learner;
    const bool *is_abnormal;
    signed char *label;
    double *score, *left_score;
    bool *is_anomaly, *left_abnormal;
    struct question *next;
};

static void game_release(struct game *g)
{
    free(g->label);
    free(g->score);
    free(g->left_score);
    free(g->is_anomaly);
    free(g->left_abnormal);
    free(g->next);
}

static double unlabelled_pr(struct game *g)
{
    struct auc auc;
    size_t n = 0;

    for (uint32_t i = 0; i < g->learner->input.n; i++) {
        if (g->label[i] != LABEL_NONE)
            continue;
        g->left_score[n] = g->score[i];
        g->left_abnormal[n++] = g->is_abnormal[i];
    }
    return auc_compute(g->left_score, g->left_abnormal, n, &auc) == 0 ? auc.pr : NAN;
}

/* One round: rank, tell, ask. Returns 0, 1 when it is over, or an error. */
static int play(struct game *g, size_t batch, struct simulate_point *point, simulate_fn *fn,
                void *ctx)
{
    const struct learner_input *in = &g->learner->input;
    double threshold;
    size_t n;
    int rc = learner_rank(g->learner, g->label, g->score, g->is_anomaly, &threshold);

    if (rc == 0)
        rc = auc_compute(g->score, g->is_abnormal, in->n, &point->all);
    if (rc < 0)
        return rc;
    point->unlabelled_pr = unlabelled_pr(g);
    if (!fn(ctx, point))
        return 1;
    n = query_next(g->learner, g->label, g->score, batch, g->next);
    for (size_t i = 0; i < n; i++) {
        uint32_t t = g->next[i].tree;

        g->label[t] = g->is_abnormal[t] ? LABEL_ABNORMAL : LABEL_NORMAL;
    }
    point->n_labels += n;
    return n == 0;
}

int simulate(struct learner *learner, const bool *is_abnormal, size_t most, size_t batch,
             simulate_fn *fn, void *ctx)
{
    size_t n = learner->input.n;
    struct game g = {.learner = learner,
                     .is_abnormal = is_abnormal,
                     .label = mem_alloc(n, 1),
                     .score = mem_alloc(n, sizeof(double)),
                     .left_score = mem_alloc(n, sizeof(double)),
                     .is_anomaly = mem_alloc(n, sizeof(bool)),
                     .left_abnormal = mem_alloc(n, sizeof(bool)),
                     .next = mem_alloc(batch, sizeof(struct question))};
    struct simulate_point point = {0};
    int rc = 0;

    while (rc == 0 && point.n_labels <= most) {
        size_t left = most - point.n_labels;

        rc = play(&g, left < batch ? left : batch, &point, fn, ctx);
    }
    game_release(&g);
    return rc < 0 ? rc : 0;
}
