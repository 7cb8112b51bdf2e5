/* One column per part, then the largest of each row. */
#include "detect/residual_score.h"

#include "base/mem.h"
#include "detect/tails.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_TIME_SLOPE 0.5
#define LEAST_STRUCTURE_SLOPE 1.0
#define BEYOND_RANK 1.0     /* nats by which sure time may exceed what ranks can say */
#define GROSS_DISCOUNT 1.0  /* nats by which doubtful time counts less */
#define STRONG_EVIDENCE 4.5 /* nats; one in ninety clean forests' trees of a hundred */
#define FEWEST_TREES 10     /* below, nothing can be called an anomaly */
#define TIE_SLACK 1.5       /* trees tied at the cut may make so many times more anomalies */

const char *score_part_name(enum score_part part)
{
    static const char *const names[] = {"time", "gross", "structure", "size"};

    return names[part];
}

void residual_scores_release(struct residual_scores *scores)
{
    free(scores->score);
    free(scores->part);
    for (int p = 0; p < N_PARTS; p++)
        free(scores->value[p]);
    *scores = (struct residual_scores){0};
}

struct columns_of {
    size_t n;
    double *value, *rank, *model; /* [n] scratch */
    double **part;                /* [N_PARTS], [n] each */
    double *evidence;             /* [n] */
};

enum field { FIELD_TIME, FIELD_GROSS, FIELD_STRUCTURE, FIELD_SIZE };

static void load(struct columns_of *c, const struct residual_measure *m, enum field field)
{
    for (size_t i = 0; i < c->n; i++)
        c->value[i] = field == FIELD_TIME        ? m[i].time
                      : field == FIELD_GROSS     ? m[i].gross
                      : field == FIELD_STRUCTURE ? m[i].structure
                                                 : m[i].size;
    tail_rank(c->value, c->n, c->rank);
}

/* Quantile of the loaded column, which it may reorder. */
static double quantile(struct columns_of *c, double q)
{
    memcpy(c->model, c->value, c->n * sizeof *c->model);
    return robust_quantile(c->model, c->n, q);
}

static void score_time(struct columns_of *c, const struct residual_measure *m)
{
    double share = tail_share(c->n), begin;

    load(c, m, FIELD_TIME);
    begin = quantile(c, 1 - share);
    tail_model(c->value, c->rank, c->n, LEAST_TIME_SLOPE, c->model);
    for (size_t i = 0; i < c->n; i++) {
        c->part[PART_TIME][i] = fmin(c->model[i], c->rank[i] + BEYOND_RANK);
        c->evidence[i] = fmax(c->model[i], (c->value[i] - begin) / 3 - log(share));
    }
    load(c, m, FIELD_GROSS);
    for (size_t i = 0; i < c->n; i++)
        c->part[PART_GROSS][i] = c->rank[i] - GROSS_DISCOUNT;
}

static void score_structure(struct columns_of *c, const struct residual_measure *m)
{
    double usual;

    load(c, m, FIELD_STRUCTURE);
    usual = quantile(c, 0.95);
    tail_model(c->value, c->rank, c->n, LEAST_STRUCTURE_SLOPE, c->part[PART_STRUCTURE]);
    for (size_t i = 0; i < c->n; i++)
        c->evidence[i] = fmax(c->evidence[i], c->value[i] - usual + 0.5);
    load(c, m, FIELD_SIZE);
    for (size_t i = 0; i < c->n; i++) {
        c->part[PART_SIZE][i] = fmin(c->rank[i], 2 * sqrt(m[i].size_z));
        c->evidence[i] = fmax(c->evidence[i], c->part[PART_SIZE][i]);
    }
}

static int by_value_down(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p < q) - (p > q);
}

/* The score that the last of the anomalies does not reach. */
static double threshold_for(const double *score, const double *evidence, size_t n)
{
    double *sorted = mem_alloc(n, sizeof *sorted), cut, below = -1;
    size_t n_strong = 0, n_at_least = 0;

    for (size_t i = 0; i < n; i++)
        n_strong += evidence[i] >= STRONG_EVIDENCE;
    if (n < FEWEST_TREES || n_strong == 0) {
        free(sorted);
        return INFINITY;
    }
    memcpy(sorted, score, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value_down);
    cut = sorted[n_strong - 1];
    while (n_at_least < n && sorted[n_at_least] >= cut)
        n_at_least++;
    if (n_at_least < n)
        below = sorted[n_at_least];
    free(sorted);
    if ((double)n_at_least > TIE_SLACK * (double)n_strong + 2)
        return cut; /* too many tie: only what is strictly above */
    return 0.5 * (cut + below);
}

void residual_score(const struct residual_measure *measure, size_t n,
                    struct residual_scores *out)
{
    struct columns_of c = {.n = n};
    double *room = mem_alloc(n * 4, sizeof *room);

    c.value = room;
    c.rank = room + n;
    c.model = room + 2 * n;
    c.evidence = room + 3 * n;
    c.part = out->value;
    for (int p = 0; p < N_PARTS; p++)
        out->value[p] = mem_alloc(n, sizeof *out->value[p]);
    out->score = mem_alloc(n, sizeof *out->score);
    out->part = mem_alloc(n, sizeof *out->part);
    out->threshold = INFINITY;
    if (n > 0) {
        score_time(&c, measure);
        score_structure(&c, measure);
    }
    for (size_t i = 0; i < n; i++) {
        out->score[i] = c.part[PART_TIME][i];
        for (enum score_part p = PART_GROSS; p < N_PARTS; p++)
            if (c.part[p][i] > out->score[i]) {
                out->score[i] = c.part[p][i];
                out->part[i] = p;
            }
    }
    if (n > 0)
        out->threshold = threshold_for(out->score, c.evidence, n);
    free(room);
}
