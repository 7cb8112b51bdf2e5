/*
 * A kind is a queue, sorted once; a question is the head of the kind that is best once what was
 * said and asked of it is counted against it. Two sets of queues: by strangeness, by doubt.
 */
#include "learn/query.h"

#include "base/mem.h"
#include "base/order.h"
#include "learn/reasons.h"

#include <math.h>
#include <stdlib.h>

/* Nats that a label, or a question, takes from a kind's strangeness; adds to its distance from
 * doubt; and by which who was held up with others beyond doubt is nearer to it. */
#define SAID_STRANGE 1.0
#define SAID_UNCERTAIN 0.1
#define ASKED_UNCERTAIN 1.0
#define WAVE_UNCERTAIN 1.5

struct question_candidate {
    double value, tie; /* the highest first */
    uint32_t kind, i;
};

struct kind_queue {
    uint32_t kind;
    size_t at, end; /* of the candidates: its head, and where it ends */
};

/* The unlabelled executions, by kind. */
struct queues {
    struct question_candidate *candidate;
    struct kind_queue *queue;
    size_t n;
};

struct choice {
    const struct learner *learner;
    const signed char *label;
    const double *score;
    uint32_t *n_said, *n_asked; /* [kinds] labels; questions in this list */
    bool *is_chosen;            /* [n] */
    bool *is_wave_said;         /* [waves] something was said of one of its executions */
    struct queues strange, uncertain;
};

static int by_kind(const void *a, const void *b)
{
    const struct question_candidate *p = a, *q = b;

    return ORDER(p->kind, q->kind) ?:
           ORDER(q->value, p->value) ?:
           ORDER(q->tie, p->tie) ?:
           ORDER(p->i, q->i);
}

static uint32_t kind_of(const struct choice *c, uint32_t i)
{
    return reasons_kind(c->learner->input.reasons, i);
}

/* How likely it was held up with others, 0..1, as long as nothing was said of any of them. */
static double wave_of(const struct choice *c, uint32_t i)
{
    const struct reasons *reasons = c->learner->input.reasons;
    double strength;
    uint32_t wave = reasons_wave(reasons, i, &strength);

    return wave == REASONS_NO_WAVE || c->is_wave_said[wave] ? 0 : strength;
}

static void queues_init(struct queues *q, const struct choice *c, bool is_uncertain)
{
    const struct learner_input *in = &c->learner->input;
    size_t n = 0;

    *q = (struct queues){.candidate = mem_alloc(in->n, sizeof *q->candidate),
                         .queue = mem_alloc(in->reasons->n_lasting, sizeof *q->queue)};
    for (uint32_t i = 0; i < in->n; i++)
        if (c->label[i] == LABEL_NONE)
            q->candidate[n++] = (struct question_candidate){
                is_uncertain
                    ? WAVE_UNCERTAIN * wave_of(c, i) - fabs(c->score[i] - c->learner->pivot)
                    : c->score[i],
                in->prior[i], kind_of(c, i), i};
    qsort(q->candidate, n, sizeof *q->candidate, by_kind);
    for (size_t k = 0; k < n; k++) {
        if (k == 0 || q->candidate[k].kind != q->candidate[k - 1].kind)
            q->queue[q->n++] = (struct kind_queue){q->candidate[k].kind, k, k};
        q->queue[q->n - 1].end = k + 1;
    }
}

static void queues_release(struct queues *q)
{
    free(q->candidate);
    free(q->queue);
}

/* What counts against a kind. */
static double handicap(const struct choice *c, uint32_t kind, bool is_uncertain)
{
    if (is_uncertain)
        return SAID_UNCERTAIN * c->n_said[kind] + ASKED_UNCERTAIN * c->n_asked[kind];
    if (isnan(c->learner->pivot))
        return 0;
    return SAID_STRANGE * (c->n_said[kind] + c->n_asked[kind]);
}

/* The best head, with the handicap of its kind; NULL when all are chosen. */
static const struct question_candidate *best_head(const struct choice *c, struct queues *q,
                                                  bool is_uncertain)
{
    const struct question_candidate *best = NULL;
    double best_value = 0;

    for (size_t k = 0; k < q->n; k++) {
        struct kind_queue *queue = &q->queue[k];
        const struct question_candidate *head;
        double value;

        while (queue->at < queue->end && c->is_chosen[q->candidate[queue->at].i])
            queue->at++;
        if (queue->at == queue->end)
            continue;
        head = &q->candidate[queue->at];
        value = head->value - handicap(c, head->kind, is_uncertain);
        if (best == NULL || value > best_value ||
            (value == best_value &&
             (head->tie > best->tie || (head->tie == best->tie && head->i < best->i)))) {
            best = head;
            best_value = value;
        }
    }
    return best;
}

static void choice_init(struct choice *c)
{
    const struct learner_input *in = &c->learner->input;
    uint32_t n_kinds = in->reasons->n_lasting;

    c->n_said = mem_alloc(n_kinds, sizeof *c->n_said);
    c->n_asked = mem_alloc(n_kinds, sizeof *c->n_asked);
    c->is_chosen = mem_alloc(in->n, sizeof *c->is_chosen);
    c->is_wave_said = mem_alloc(in->reasons->rows.n_cols - n_kinds, sizeof *c->is_wave_said);
    for (uint32_t i = 0; i < in->n; i++) {
        double strength;
        uint32_t wave = reasons_wave(in->reasons, i, &strength);

        if (wave != REASONS_NO_WAVE && c->label[i] != LABEL_NONE)
            c->is_wave_said[wave] = true;
    }
    queues_init(&c->strange, c, false);
    if (!isnan(c->learner->pivot))
        queues_init(&c->uncertain, c, true);
}

static void choice_release(struct choice *c)
{
    queues_release(&c->strange);
    queues_release(&c->uncertain);
    free(c->n_said);
    free(c->n_asked);
    free(c->is_chosen);
    free(c->is_wave_said);
}

size_t query_next(const struct learner *learner, const signed char *label, const double *score,
                  size_t most, struct question *next)
{
    struct choice c = {.learner = learner, .label = label, .score = score};
    uint32_t turn = 0;
    size_t n = 0;

    choice_init(&c);
    for (uint32_t i = 0; i < learner->input.n; i++) {
        c.n_said[kind_of(&c, i)] += label[i] != LABEL_NONE;
        turn += label[i] != LABEL_NONE;
    }
    for (; n < most; turn++) {
        bool is_uncertain = !isnan(learner->pivot) && turn % 2 == 1;
        const struct question_candidate *head =
            best_head(&c, is_uncertain ? &c.uncertain : &c.strange, is_uncertain);

        if (head == NULL)
            break;
        next[n++] = (struct question){head->i, head->kind, is_uncertain};
        c.is_chosen[head->i] = true;
        c.n_asked[head->kind]++;
    }
    choice_release(&c);
    return n;
}

bool query_moved(const struct learner *learner, const signed char *label, const double *score,
                 const struct question *question, uint32_t *n_moved)
{
    *n_moved = 0;
    if (learner->ops->moved == NULL)
        return false;
    *n_moved = learner->ops->moved(learner, label, score, question->tree);
    return true;
}

/* ------------------------------------------------------------------------------- simulation */

/* The oracle is asked in rounds of `batch`; every round is a ranking of all executions. */

struct game {
    struct learner *learner;
    const bool *is_abnormal;
    signed char *label;
    double *score, *left_score;
    bool *is_anomaly, *left_abnormal;
    struct question *next;
};

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
    free(g.label);
    free(g.score);
    free(g.left_score);
    free(g.is_anomaly);
    free(g.left_abnormal);
    free(g.next);
    return rc < 0 ? rc : 0;
}
