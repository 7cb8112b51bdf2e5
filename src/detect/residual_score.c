/* One column per part, then the largest of each row. */
#include "detect/residual_score.h"

#include "base/mem.h"
#include "base/pool.h"
#include "base/radix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_TIME_SLOPE 0.5
#define MIN_STRUCTURE_SLOPE 1.0
#define BEYOND_RANK 1.0    /* nats by which sure time may exceed what ranks can say */
#define GROSS_DISCOUNT 1.0 /* nats by which doubtful time counts less */
#define WAYS 4.0           /* to be strange, for the evidence that makes an anomaly */
#define MIN_BRIEF 4        /* widths; a little shorter is not strange */
#define MIN_TREES 10       /* below, nothing can be called an anomaly */
#define AGREE 3.0          /* nats, one in twenty: more of another aspect adds up */
#define GROSS_AGREE 0.25   /* nats more, as gross and time partly say the same */
#define MAX_TRACER 4.5     /* nats, for what the tracer took; never before an anomaly */
#define HALF_TRACER 0.05   /* typical durations that score half of it */
#define MAX_CERTAIN 2.0    /* nats that the verdict may add to the score */
#define OWN_NATS 1.0  /* for each factor e of own time lost, beyond the least that matters, */
#define LONG_NATS 2.0 /* and so many more beyond LONG_OWN */
#define LONG_OWN 10.0 /* typical durations: who lost that comes before who is only strange */
#define MIN_TIME 5.5  /* of X; less is what chance makes of ordinary calls */
#define MIN_GROSS RESIDUAL_MATERIAL /* below, factors mean nothing */

/*
 * How evidence grows with a measure beyond what the highest executions have: up to `share` of
 * a run may be anomalies, so its values from there on say nothing of what is typical. A value per
 * nat; why these: docs/algorithms.md.
 */
static const struct evidence_of {
    double share, most_share; /* the latter where a gap is below them */
    double slope;
} evidence_of[N_MEASURES] = {
    [PART_TIME] = {0.02, 0.05, 0.5},
    [PART_GROSS] = {0.02, 0.02, 0.2}, /* of its logarithm */
    [PART_STRUCTURE] = {0.01, 0.01, 0.28},
    [PART_SIZE] = {0.01, 0.01, 0.1},
    [PART_SHORT] = {0.02, 0.05, 1.0}, /* widths; of a normal distribution it is a fifth */
    [MEASURE_OWN] = {0.02, 0.1, 0.25},
};
#define OWN_TIMES 0.12 /* of ln(1 + own) a nat: by an eighth longer, were it alone */
#define GAP 8          /* nats; by chance the values of a tail are not so far apart */

const char *score_part_name(enum score_part part)
{
    static const char *const names[] = {"time", "gross", "structure", "size", "short"};

    return names[part];
}

void residual_scores_release(struct residual_scores *scores)
{
    free(scores->score);
    free(scores->part);
    free(scores->evidence);
    free(scores->weight);
    free(scores->chance);
    free(scores->is_by_tracer);
    free(scores->is_long);
    for (int p = 0; p < N_PARTS; p++)
        free(scores->value[p]);
    *scores = (struct residual_scores){0};
}

/* Time lost is to be thought of in factors. */
static double log_gross(double gross)
{
    return log(gross + MIN_GROSS);
}

static double measure_of(const struct residual_measure *m, int which)
{
    return which == PART_TIME        ? m->time
           : which == PART_GROSS     ? m->gross
           : which == PART_STRUCTURE ? m->structure
           : which == PART_SIZE      ? m->size
           : which == PART_SHORT     ? m->brief
                                     : log_gross(residual_own(m));
}

static void find_anchors(struct calibration *y)
{
    for (int p = 0; p < N_MEASURES; p++) {
        const struct tail *tail = &y->tail[p];
        size_t n_out = tail_leave_out(tail, evidence_of[p].share, evidence_of[p].most_share,
                                      GAP * evidence_of[p].slope);

        y->anchor[p].value = tail->sorted[tail->n - 1 - n_out];
        y->anchor[p].rank = -log((double)(n_out + 1) / (double)tail->n);
        y->anchor[p].n_above = (double)n_out;
    }
}

static void find_reaches(struct calibration *y)
{
    const struct tail *gross = &y->tail[PART_GROSS];
    double *factor = mem_resize(NULL, gross->n, sizeof *factor);

    for (size_t i = 0; i < gross->n; i++)
        factor[i] = log_gross(gross->sorted[i]);
    tail_reach_fit(&y->time, y->tail[PART_TIME].sorted, y->tail[PART_TIME].n,
                   evidence_of[PART_TIME].slope);
    tail_reach_fit(&y->gross, factor, gross->n, evidence_of[PART_GROSS].slope);
    tail_reach_fit(&y->brief, y->tail[PART_SHORT].sorted, y->tail[PART_SHORT].n,
                   evidence_of[PART_SHORT].slope);
    free(factor);
}

struct fitting {
    struct calibration *y;
    const struct residual_measure *measure;
    size_t n;
};

static void fit_measures(void *ctx, size_t begin, size_t end, unsigned worker)
{
    static const double least_slope[N_MEASURES] = {
        MIN_TIME_SLOPE, 1, MIN_STRUCTURE_SLOPE, 1, 1, 1};
    const struct fitting *f = ctx;
    double *value = mem_resize(NULL, f->n, sizeof *value);

    (void)worker;
    for (size_t p = begin; p < end; p++) {
        for (size_t i = 0; i < f->n; i++)
            value[i] = measure_of(&f->measure[i], (int)p);
        tail_fit(&f->y->tail[p], value, f->n, least_slope[p]);
    }
    free(value);
}

static double strong_of(double n, double false_alarms)
{
    return log(WAYS * n / false_alarms);
}

void calibration_fit(struct calibration *y, const struct residual_measure *measure, size_t n,
                     struct pool *pool)
{
    struct fitting fitting = {y, measure, n};

    *y = (struct calibration){.strong = INFINITY, .threshold = NAN};
    if (n >= MIN_TREES)
        y->strong = strong_of((double)n, RESIDUAL_FALSE_ALARMS);
    if (n == 0)
        return;
    pool_for(pool, N_MEASURES, 1, fit_measures, &fitting);
    find_anchors(y);
    find_reaches(y);
}

void calibration_release(struct calibration *y)
{
    for (int p = 0; p < N_MEASURES; p++)
        tail_release(&y->tail[p]);
}

void calibration_pack(const struct calibration *y, struct pack *pack)
{
    pack_f64(pack, y->strong);
    pack_f64(pack, y->threshold);
    pack_f64(pack, y->most_tracer);
    for (int p = 0; p < N_MEASURES; p++)
        tail_pack(&y->tail[p], pack);
}

void calibration_unpack(struct calibration *y, struct pack *pack)
{
    *y = (struct calibration){.strong = unpack_f64(pack)};
    y->threshold = unpack_f64(pack);
    y->most_tracer = unpack_f64(pack);
    pack->is_bad |= isnan(y->strong) || !isfinite(y->threshold) || !isfinite(y->most_tracer);
    for (int p = 0; p < N_MEASURES; p++)
        tail_unpack(&y->tail[p], pack);
    if (!pack->is_bad) {
        find_anchors(y);
        find_reaches(y);
    }
}

double calibration_strong(const struct calibration *y, double n, double false_alarms)
{
    return isfinite(y->strong) ? strong_of(n, false_alarms) : INFINITY;
}

double calibration_executions(const struct calibration *y)
{
    return exp(y->strong) * RESIDUAL_FALSE_ALARMS / WAYS;
}

/* The measures of a tree, and how far out each of them is. */
struct measured_ranks {
    double value[N_MEASURES], rank[N_MEASURES];
};

static void parts_of(const struct calibration *y, const struct residual_measure *m,
                     const struct measured_ranks *at, double value[N_PARTS])
{
    double time = tail_model_at(&y->tail[PART_TIME], m->time, at->rank[PART_TIME]);

    value[PART_TIME] = fmin(time, at->rank[PART_TIME] + BEYOND_RANK);
    value[PART_GROSS] = at->rank[PART_GROSS] - GROSS_DISCOUNT;
    if (!isnan(m->own)) /* who waited comes behind who was waited for */
        value[PART_GROSS] = fmin(value[PART_GROSS], at->rank[MEASURE_OWN]);
    value[PART_STRUCTURE] =
        tail_model_at(&y->tail[PART_STRUCTURE], m->structure, at->rank[PART_STRUCTURE]);
    value[PART_SIZE] = fmin(at->rank[PART_SIZE], 2 * sqrt(m->size_z));
    value[PART_SHORT] = m->brief < MIN_BRIEF ? 0 : fmin(at->rank[PART_SHORT], m->brief);
}

/* The largest, and what the others have beyond their bases. */
static double add_up(const double value[N_PARTS], const double base[N_PARTS])
{
    enum score_part most = 0;
    double sum;

    for (enum score_part p = 1; p < N_PARTS; p++)
        if (value[p] > value[most])
            most = p;
    sum = value[most];
    for (enum score_part p = 0; p < N_PARTS; p++)
        sum += p == most ? 0 : fmax(value[p] - base[p], 0);
    return sum;
}

/* How many times as long as typical an execution with that own part would be alone. */
static double own_times(double log_own)
{
    return 1 + exp(log_own) - MIN_GROSS;
}

/* By how much longer than the anchor, nats, as far as those above it say that. */
static double times_beyond(const struct calibration *y, double log_own)
{
    double longer = own_times(log_own) / own_times(y->anchor[MEASURE_OWN].value);

    return tail_nats(log(longer) / OWN_TIMES, y->anchor[MEASURE_OWN].n_above);
}

/* What one measure says. */
static double evidence_in(const struct calibration *y, int p, const struct measured_ranks *at)
{
    double anchor = y->anchor[p].value, value = at->value[p], beyond = value - anchor;

    if (beyond <= 0)
        return fmin(at->rank[p], y->anchor[p].rank);
    if (p == PART_GROSS)
        beyond = log_gross(value) - log_gross(anchor);
    beyond /= evidence_of[p].slope;
    if (p == MEASURE_OWN)
        beyond = fmax(beyond, times_beyond(y, value));
    return y->anchor[p].rank + beyond;
}

/* What the measures of a tree say together. least_lost: what is lost, beyond what begins and
 * ends are off by, must be that much to count, in typical durations. */
static double evidence_of_tree(const struct calibration *y, const struct residual_measure *m,
                               const double said[N_PARTS], double least_lost)
{
    double value[N_PARTS], base[N_PARTS];

    for (enum score_part p = 0; p < N_PARTS; p++) {
        value[p] = said[p];
        base[p] = y->anchor[p].rank;
    }
    if (m->time < MIN_TIME || m->sure - m->sure_off < least_lost)
        value[PART_TIME] = 0;
    if (m->gross - m->gross_off < least_lost)
        value[PART_GROSS] = 0;
    if (m->size_z <= 0)
        value[PART_SIZE] = 0;
    if (m->saved < least_lost || m->brief < MIN_BRIEF)
        value[PART_SHORT] = 0;
    return add_up(value, base);
}

double threshold_between(const double *score, size_t n, size_t n_above)
{
    double *sorted = mem_resize(NULL, n, sizeof *sorted), threshold;
    uint64_t *scratch = mem_resize(NULL, n, 2 * sizeof *scratch);

    memcpy(sorted, score, n * sizeof *sorted);
    radix_sort_f64(sorted, scratch, n);
    threshold = n_above == 0   ? sorted[n - 1] + 0.5
                : n_above == n ? sorted[0] - 0.5
                               : 0.9 * sorted[n - n_above] + 0.1 * sorted[n - n_above - 1];
    free(scratch);
    free(sorted);
    return threshold;
}

#define TIMES                                                                                  \
    3 /* ways in which chance may make a time strange: of calls, of all, too short             \
       */

/* Nothing is said of few executions, nor of what was called how often: there is no law of that.
 */
static double chance_of(const struct calibration *y, const struct residual_measure *m,
                        const struct measured_ranks *at)
{
    double nats = tail_reach_at(&y->time, m->time, at->rank[PART_TIME]);

    if (y->time.n < MIN_TREES)
        return 1;
    nats = fmax(nats, tail_reach_at(&y->gross, log_gross(m->gross), at->rank[PART_GROSS]));
    nats = fmax(nats, tail_reach_at(&y->brief, m->brief, at->rank[PART_SHORT]));
    return fmin(TIMES * exp(-nats), 1);
}

/* What an anomaly scores more: the surer it is, and the more it lost by itself. */
static double of_anomaly(const struct calibration *y, const struct residual_measure *m,
                         double weight)
{
    return fmin(weight - y->strong, MAX_CERTAIN) +
           OWN_NATS * log1p(residual_own(m) / RESIDUAL_MIN_LOST) +
           LONG_NATS * log1p(residual_own(m) / LONG_OWN);
}

static void score_tree(const struct calibration *y, const struct residual_measure *m, size_t i,
                       struct residual_scores *out)
{
    static const double base[N_PARTS] = {[PART_TIME] = AGREE,
                                         [PART_GROSS] = AGREE + GROSS_AGREE,
                                         [PART_STRUCTURE] = AGREE,
                                         [PART_SIZE] = AGREE,
                                         [PART_SHORT] = AGREE};
    double value[N_PARTS], said[N_PARTS];
    struct measured_ranks at;

    for (int p = 0; p < N_MEASURES; p++) {
        at.value[p] = measure_of(m, p);
        at.rank[p] = tail_rank(&y->tail[p], at.value[p]);
    }
    parts_of(y, m, &at, value);
    for (enum score_part p = 0; p < N_PARTS; p++)
        said[p] = evidence_in(y, p, &at);
    if (!isnan(m->own))
        said[PART_GROSS] = fmax(said[PART_GROSS], evidence_in(y, MEASURE_OWN, &at));
    out->evidence[i] = evidence_of_tree(y, m, said, 0);
    out->weight[i] = evidence_of_tree(y, m, said, RESIDUAL_MIN_LOST);
    out->is_long[i] = said[PART_GROSS] >= y->strong && m->gross >= RESIDUAL_MIN_LOST;
    out->chance[i] = chance_of(y, m, &at);
    for (enum score_part p = 0; p < N_PARTS; p++) {
        out->value[p][i] = value[p];
        if (value[p] > value[out->part[i]])
            out->part[i] = p;
    }
    out->score[i] = add_up(value, base);
    if (out->weight[i] >= y->strong)
        out->score[i] += of_anomaly(y, m, out->weight[i]);
}

void residual_score_raise(const struct calibration *y, const struct residual_measure *m,
                          size_t i, double evidence, struct residual_scores *out)
{
    if (out->weight[i] < y->strong)
        out->score[i] = fmax(out->score[i], y->threshold) + of_anomaly(y, m, y->strong);
    out->weight[i] = fmax(out->weight[i], evidence);
    out->evidence[i] = fmax(out->evidence[i], evidence);
    out->is_long[i] = true;
}

struct scored_trees {
    const struct calibration *y;
    const struct residual_measure *measure;
    struct residual_scores *out;
};

static void score_trees(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct scored_trees *s = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        score_tree(s->y, &s->measure[i], i, s->out);
}

void residual_score(struct calibration *y, const struct residual_measure *measure, size_t n,
                    struct pool *pool, struct residual_scores *out)
{
    struct scored_trees scored = {y, measure, out};

    for (int p = 0; p < N_PARTS; p++)
        out->value[p] = mem_alloc(n, sizeof *out->value[p]);
    out->score = mem_alloc(n, sizeof *out->score);
    out->part = mem_alloc(n, sizeof *out->part);
    out->evidence = mem_alloc(n, sizeof *out->evidence);
    out->weight = mem_alloc(n, sizeof *out->weight);
    out->chance = mem_alloc(n, sizeof *out->chance);
    out->is_by_tracer = mem_alloc(n, sizeof *out->is_by_tracer);
    out->is_long = mem_alloc(n, sizeof *out->is_long);
    pool_for(pool, n, pool_grain(pool, n), score_trees, &scored);
    if (isnan(y->threshold) && n > 0) {
        size_t n_strong = 0;

        for (size_t i = 0; i < n; i++)
            n_strong += out->weight[i] >= y->strong;
        y->threshold = threshold_between(out->score, n, n_strong);
        y->most_tracer = n_strong > 0 ? fmin(y->threshold, MAX_TRACER) : MAX_TRACER;
    }
    /* what the tracer took is worth a look, behind what is strange by itself; it is no anomaly */
    for (size_t i = 0; i < n; i++) {
        double by_tracer =
            y->most_tracer * measure[i].tracer / (HALF_TRACER + measure[i].tracer);

        out->is_by_tracer[i] = by_tracer > out->score[i];
        out->score[i] = fmax(out->score[i], by_tracer);
    }
}
