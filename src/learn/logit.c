/*
 * Newton's method; each step by conjugate gradients, so that no matrix is ever formed. The
 * prior makes the problem convex, and its matrix I + X' C X has few large eigenvalues, as many
 * as there are kinds of labels.
 */
#include "learn/logit.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STEEPNESS 3.0   /* logits per nat of score */
#define FLOOR 0.2       /* share of the detector's score below which none falls */
#define MAX_OFFSET 30.0 /* logits: beyond it, surprise is surprise */
#define MAX_STEPS 60
#define MAX_DIRECTIONS 400
#define CLOSE 1e-9 /* a step that changes no weight by more is the last */
#define MOVED 0.25 /* nats */
#define GRAIN 1024u

void logit_release(struct logit *l)
{
    free(l->weight);
    free(l->label_row);
    free(l->n_heard);
    free(l->curvature);
    *l = (struct logit){0};
}

void logit_keep(struct logit *l, uint32_t n)
{
    l->n_cols = n < l->n_cols ? n : l->n_cols;
    l->n_labels = 0;
}

static double logistic(double z)
{
    return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

/* ------------------------------------------------------------------------------- the fit */

/* The labelled rows, and room to work. */
struct logit_fit {
    const struct rows *rows;
    struct logit *logit;
    double *offset;              /* [n_labels] */
    bool *is_abnormal;           /* [n_labels] */
    double *gradient, *step;     /* [n_cols] */
    double *rest, *along, *bent; /* [n_cols] of conjugate gradients */
};

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Solves (I + X' C X) step = rest, by conjugate gradients; rest is used up. */
static void solve(const struct logit *l, const struct rows *rows, double *step, double *rest,
                  double *along, double *bent)
{
    uint32_t n = l->n_cols;
    double square = dot(rest, rest, n), enough = square * 1e-20;

    memset(step, 0, n * sizeof *step);
    memcpy(along, rest, n * sizeof *along);
    for (int k = 0; k < MAX_DIRECTIONS && square > enough; k++) {
        double length, next;

        memcpy(bent, along, n * sizeof *bent); /* bent = (I + X' C X) along */
        for (uint32_t i = 0; i < l->n_labels; i++)
            rows_add_to(rows, l->label_row[i],
                        l->curvature[i] * rows_dot(rows, l->label_row[i], along, l->n_heard[i]),
                        bent, l->n_heard[i]);
        length = square / dot(along, bent, n);
        for (uint32_t j = 0; j < n; j++) {
            step[j] += length * along[j];
            rest[j] -= length * bent[j];
        }
        next = dot(rest, rest, n);
        for (uint32_t j = 0; j < n; j++)
            along[j] = rest[j] + next / square * along[j];
        square = next;
    }
}

/* How improbable the weights are: -ln of prior and likelihood, but for a constant. */
static double cost(const struct logit_fit *f, const double *w)
{
    double sum = 0.5 * dot(w, w, f->logit->n_cols);

    for (uint32_t i = 0; i < f->logit->n_labels; i++) {
        double z =
            f->offset[i] + rows_dot(f->rows, f->logit->label_row[i], w, f->logit->n_heard[i]);

        z = f->is_abnormal[i] ? -z : z;
        sum += fmax(z, 0) + log1p(exp(-fabs(z)));
    }
    return sum;
}

/* Gradient and curvature at the weights. */
static void look_around(struct logit_fit *f)
{
    struct logit *l = f->logit;

    memcpy(f->gradient, l->weight, l->n_cols * sizeof *f->gradient);
    for (uint32_t i = 0; i < l->n_labels; i++) {
        double p = logistic(f->offset[i] +
                            rows_dot(f->rows, l->label_row[i], l->weight, l->n_heard[i]));

        l->curvature[i] = p * (1 - p);
        rows_add_to(f->rows, l->label_row[i], p - f->is_abnormal[i], f->gradient,
                    l->n_heard[i]);
    }
}

/* One step downhill, shorter where a whole one would go too far. Returns the largest change. */
static double descend(struct logit_fit *f)
{
    struct logit *l = f->logit;
    double here = cost(f, l->weight), part = 1, most = 0, fall;

    memcpy(f->rest, f->gradient, l->n_cols * sizeof *f->rest);
    solve(l, f->rows, f->step, f->rest, f->along, f->bent);
    fall = dot(f->gradient, f->step, l->n_cols);
    for (;; part /= 2) {
        for (uint32_t j = 0; j < l->n_cols; j++)
            f->along[j] = l->weight[j] - part * f->step[j];
        if (part < 1e-6 || cost(f, f->along) <= here - 1e-4 * part * fall)
            break;
    }
    for (uint32_t j = 0; j < l->n_cols; j++)
        most = fmax(most, fabs(part * f->step[j]));
    memcpy(l->weight, f->along, l->n_cols * sizeof *l->weight);
    return most;
}

static double offset_of(double score, double pivot)
{
    return fmin(fmax(STEEPNESS * (score - pivot), -MAX_OFFSET), MAX_OFFSET);
}

static void take_labels(struct logit_fit *f, const struct logit_input *in)
{
    struct logit *l = f->logit;

    for (uint32_t i = 0; i < in->rows->n; i++) {
        double offset = offset_of(in->score[i], in->pivot);

        if (in->label[i] == 0)
            continue;
        f->is_abnormal[l->n_labels] = in->label[i] > 0;
        f->offset[l->n_labels] = in->label[i] > 0 ? fmin(offset, 0) : offset;
        l->n_heard[l->n_labels] = in->label[i] > 0 ? in->rows->n_cols : in->n_lasting;
        l->label_row[l->n_labels++] = i;
    }
}

void logit_fit(struct logit *l, const struct logit_input *in)
{
    uint32_t n = 0, n_cols = in->rows->n_cols;
    struct logit_fit f = {.rows = in->rows, .logit = l};
    double *room;

    *l = (struct logit){0};
    for (uint32_t i = 0; i < in->rows->n; i++)
        n += in->label[i] != 0;
    if (n == 0)
        return;
    l->n_cols = n_cols;
    l->weight = mem_alloc(n_cols, sizeof *l->weight);
    l->label_row = mem_alloc(n, sizeof *l->label_row);
    l->n_heard = mem_alloc(n, sizeof *l->n_heard);
    l->curvature = mem_alloc(n, sizeof *l->curvature);
    f.offset = mem_alloc(n, sizeof *f.offset);
    f.is_abnormal = mem_alloc(n, sizeof *f.is_abnormal);
    f.gradient = room = mem_alloc((size_t)5 * n_cols, sizeof *room);
    f.step = room + n_cols;
    f.rest = f.step + n_cols;
    f.along = f.rest + n_cols;
    f.bent = f.along + n_cols;
    take_labels(&f, in);
    for (int k = 0; k < MAX_STEPS; k++) {
        look_around(&f);
        if (descend(&f) < CLOSE)
            break;
    }
    look_around(&f);
    free(f.offset);
    free(f.is_abnormal);
    free(room);
}

/* ---------------------------------------------------------------------------------- score */

struct logit_scores {
    const struct logit *logit;
    const struct rows *rows;
    const double *prior;
    double *score;
};

static double score_of(const struct logit *l, const struct rows *rows, uint32_t i, double prior)
{
    return fmax(prior + rows_dot(rows, i, l->weight, l->n_cols) / STEEPNESS, FLOOR * prior);
}

static void score_rows(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct logit_scores *s = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        s->score[i] = score_of(s->logit, s->rows, (uint32_t)i, s->prior[i]);
}

void logit_score(const struct logit *l, const struct rows *rows, const double *prior,
                 struct pool *pool, double *score)
{
    struct logit_scores s = {l, rows, prior, score};

    if (l->n_cols > 0)
        pool_for(pool, rows->n, GRAIN, score_rows, &s);
    else if (score != prior)
        memcpy(score, prior, rows->n * sizeof *score);
}

bool logit_verdict(bool was_anomaly, double prior, double score, double threshold)
{
    return score >
           (was_anomaly ? fmin(threshold, prior - MOVED) : fmax(threshold, prior + MOVED));
}

/* -------------------------------------------------------------------------------- answers */

/* The root of r = logistic(z - r a), by which a label still surprises once it was learnt from. */
static double surprise_left(double z, double a)
{
    double low = 0, high = 1;

    for (int i = 0; i < 50; i++) {
        double r = (low + high) / 2;

        *(r < logistic(z - r * a) ? &low : &high) = r;
    }
    return low;
}

uint32_t logit_moves(const struct logit *learnt, const struct logit_input *in,
                     const double *corrected, uint32_t i)
{
    uint32_t n = in->rows->n_cols, n_moved = 0;
    struct logit l = *learnt;
    double *direction = mem_alloc((size_t)4 * n, sizeof *direction), *rest = direction + n;
    double z = offset_of(in->score[i], in->pivot), r;
    bool is_abnormal = corrected[i] <= in->pivot; /* the less expected answer */
    uint32_t n_heard = is_abnormal ? n : in->n_lasting;

    l.n_cols = n;
    rows_add_to(in->rows, i, 1, rest, n_heard);
    solve(&l, in->rows, direction, rest, rest + n, rest + 2 * (size_t)n);
    z = (is_abnormal ? fmin(z, 0) : z) +
        rows_dot(in->rows, i, learnt->weight,
                 n_heard < learnt->n_cols ? n_heard : learnt->n_cols);
    r = surprise_left(is_abnormal ? -z : z, rows_dot(in->rows, i, direction, n_heard));
    for (uint32_t j = 0; j < n; j++) /* the weights that it would leave */
        direction[j] = (is_abnormal ? r : -r) * direction[j] +
                       (j < learnt->n_cols ? learnt->weight[j] : 0);
    l.weight = direction;
    for (uint32_t k = 0; k < in->rows->n; k++)
        n_moved += k != i && in->label[k] == 0 &&
                   fabs(score_of(&l, in->rows, k, in->score[k]) - corrected[k]) >= MOVED;
    free(direction);
    return n_moved;
}

/* ---------------------------------------------------------------------------------- bytes */

void logit_pack(const struct logit *l, struct pack *pack)
{
    pack_array(pack, l->weight, l->n_cols, sizeof *l->weight);
}

int logit_unpack(struct logit *l, struct pack *pack)
{
    size_t n = unpack_count(pack, sizeof *l->weight);

    *l = (struct logit){.weight = unpack_array(pack, n, sizeof *l->weight)};
    l->n_cols = (uint32_t)n;
    pack->is_bad |= n == 0 || n > UINT32_MAX;
    for (size_t c = 0; !pack->is_bad && c < n; c++)
        pack->is_bad |= !isfinite(l->weight[c]);
    return pack->is_bad ? err_set(ERR_FORMAT,
                                  "damaged model: what was learnt from labels cannot be read")
                        : 0;
}
