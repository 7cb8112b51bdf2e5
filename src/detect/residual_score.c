/* One column per part, then the largest of each row. */
#include "detect/residual_score.h"

#include "base/mem.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_TIME_SLOPE 0.5
#define LEAST_STRUCTURE_SLOPE 1.0
#define BEYOND_RANK 1.0    /* nats by which sure time may exceed what ranks can say */
#define GROSS_DISCOUNT 1.0 /* nats by which doubtful time counts less */
#define FEWEST_TREES 10    /* below, nothing can be called an anomaly */
#define TIE_SLACK 1.5      /* trees tied at the cut may make so many times more anomalies */

const char *score_part_name(enum score_part part)
{
    static const char *const names[] = {"time", "gross", "structure", "size"};

    return names[part];
}

void residual_scores_release(struct residual_scores *scores)
{
    free(scores->score);
    free(scores->part);
    free(scores->evidence);
    for (int p = 0; p < N_PARTS; p++)
        free(scores->value[p]);
    *scores = (struct residual_scores){0};
}

static double field_of(const struct residual_measure *m, enum score_part part)
{
    return part == PART_TIME        ? m->time
           : part == PART_GROSS     ? m->gross
           : part == PART_STRUCTURE ? m->structure
                                    : m->size;
}

void yardstick_fit(struct yardstick *y, const struct residual_measure *measure, size_t n)
{
    static const double least_slope[N_PARTS] = {LEAST_TIME_SLOPE, 1, LEAST_STRUCTURE_SLOPE, 1};
    double *value = mem_alloc(n, sizeof *value);

    *y = (struct yardstick){.threshold = INFINITY};
    for (enum score_part p = 0; n > 0 && p < N_PARTS; p++) {
        for (size_t i = 0; i < n; i++)
            value[i] = field_of(&measure[i], p);
        tail_fit(&y->part[p], value, n, least_slope[p]);
    }
    free(value);
}

void yardstick_release(struct yardstick *y)
{
    for (int p = 0; p < N_PARTS; p++)
        tail_release(&y->part[p]);
}

void yardstick_pack(const struct yardstick *y, struct pack *pack)
{
    pack_f64(pack, y->threshold);
    for (int p = 0; p < N_PARTS; p++)
        tail_pack(&y->part[p], pack);
}

void yardstick_unpack(struct yardstick *y, struct pack *pack)
{
    *y = (struct yardstick){.threshold = unpack_f64(pack)};
    pack->is_bad |= isnan(y->threshold);
    for (int p = 0; p < N_PARTS; p++)
        tail_unpack(&y->part[p], pack);
}

/* The parts of one tree; returns how strong the evidence is in absolute terms. */
static double measure_by(const struct yardstick *y, const struct residual_measure *m,
                         double value[N_PARTS])
{
    const struct tail *time = &y->part[PART_TIME], *structure = &y->part[PART_STRUCTURE];
    double share = tail_share(time->n), begin = tail_quantile(time, 1 - share);
    double modelled = tail_model(time, m->time), evidence;

    value[PART_TIME] = fmin(modelled, tail_rank(time, m->time) + BEYOND_RANK);
    value[PART_GROSS] = tail_rank(&y->part[PART_GROSS], m->gross) - GROSS_DISCOUNT;
    value[PART_STRUCTURE] = tail_model(structure, m->structure);
    value[PART_SIZE] = fmin(tail_rank(&y->part[PART_SIZE], m->size), 2 * sqrt(m->size_z));
    evidence = fmax(modelled, (m->time - begin) / 3 - log(share));
    evidence = fmax(evidence, m->structure - tail_quantile(structure, 0.95) + 0.5);
    return fmax(evidence, value[PART_SIZE]);
}

/* The score that the last of the anomalies does not reach. */
static double threshold_for(const double *score, const double *evidence, size_t n)
{
    double *sorted = mem_alloc(n, sizeof *sorted), cut, below = -1;
    size_t n_strong = 0, n_at_least = 0;

    for (size_t i = 0; i < n; i++)
        n_strong += evidence[i] >= RESIDUAL_STRONG;
    if (n < FEWEST_TREES || n_strong == 0) {
        free(sorted);
        return INFINITY;
    }
    memcpy(sorted, score, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, order_f64_down);
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

static void score_tree(const struct yardstick *y, const struct residual_measure *m, size_t i,
                       struct residual_scores *out)
{
    double value[N_PARTS];

    out->evidence[i] = measure_by(y, m, value);
    for (enum score_part p = 0; p < N_PARTS; p++) {
        out->value[p][i] = value[p];
        if (p == 0 || value[p] > out->score[i]) {
            out->score[i] = value[p];
            out->part[i] = p;
        }
    }
}

void residual_score(struct yardstick *y, bool is_own, const struct residual_measure *measure,
                    size_t n, struct residual_scores *out)
{
    for (int p = 0; p < N_PARTS; p++)
        out->value[p] = mem_alloc(n, sizeof *out->value[p]);
    out->score = mem_alloc(n, sizeof *out->score);
    out->part = mem_alloc(n, sizeof *out->part);
    out->evidence = mem_alloc(n, sizeof *out->evidence);
    for (size_t i = 0; i < n; i++)
        score_tree(y, &measure[i], i, out);
    if (is_own)
        y->threshold = threshold_for(out->score, out->evidence, n);
    out->threshold = y->threshold;
}
