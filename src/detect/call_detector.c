#include "detect/call_detector.h"

#include "base/mem.h"
#include "base/order.h"
#include "detect/call_published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_P 1e-5
#define NOISE_CALLS 1000  /* that tell the noise, */
#define NOISE_SHARE 0.002 /* which so many of them are beyond: rarer ones may be anomalies */
#define MIN_LOST_NS 1e3
#define MIN_TICKS 10
#define MIN_NOISES 2

/* ----------------------------------------------------------------------------------- tails */

/* Share of the normal calls that are further out, to the right (sign 1) or left (-1). */
static double beyond(const struct call_tail *tail, double x, double sign)
{
    if (sign * (x - tail->at[0]) > 0)
        return tail->share * exp(-sign * (x - tail->at[0]) / tail->scale);
    for (int k = 1; k < CALL_TAIL_KNOTS; k++)
        if (sign * (x - tail->at[k]) > 0)
            return tail->share *
                   pow(tail->stretch, k - (x - tail->at[k]) / (tail->at[k - 1] - tail->at[k]));
    return 1;
}

/* Where the share p of the normal calls is further out, or as many as are beyond any knot. */
static double threshold(const struct call_tail *tail, double p, double sign)
{
    double nats = log(tail->share / p), stretch = log(tail->stretch);

    if (nats >= 0)
        return tail->at[0] + sign * tail->scale * nats;
    for (int k = 1; k < CALL_TAIL_KNOTS; k++, nats += stretch)
        if (nats + stretch >= 0)
            return tail->at[k - 1] - nats / stretch * (tail->at[k] - tail->at[k - 1]);
    return tail->at[CALL_TAIL_KNOTS - 1];
}

static double p_high(const struct call_mode *mode, double x)
{
    return beyond(&mode->high, x, 1);
}

static double p_low(const struct call_mode *mode, double x)
{
    return beyond(&mode->low, x, -1);
}

static double least_p(const struct call_detector_opts *opts)
{
    return opts->p > 0 ? opts->p : MIN_P;
}

static uint64_t longest(const struct call_mode *mode, double p)
{
    return call_ns(expm1(threshold(&mode->high, p, 1)));
}

static uint64_t shortest(const struct call_mode *mode, double p)
{
    return call_ns(ceil(expm1(threshold(&mode->low, p, -1))));
}

/* Tails in which a call that lost time can be. */
static double n_tails(const struct call_model *m)
{
    return m->n_modes > 0 ? 2 * m->n_modes - 1 : 1;
}

/* Every mode thins out on both sides; a duration is as likely as the best of them makes it. */
static double p_of(const struct call_model *m, uint64_t duration_ns)
{
    double x = log1p((double)duration_ns), p = m->n_modes > 0 ? 0 : 1;

    for (uint32_t i = 0; i < m->n_modes; i++)
        p = fmax(p, fmin(p_high(&m->mode[i], x), p_low(&m->mode[i], x)));
    return fmin(p * n_tails(m), 1);
}

/* By the share of the calls in its bin. */
static double score_tails(const struct call_judge *judge, const struct sketch *s,
                          uint64_t duration_ns)
{
    uint32_t bin = sketch_bin(duration_ns) - s->first_bin;

    (void)judge;
    return call_log_share(bin < s->n_bins ? (double)s->count[bin] / (double)s->n : 0);
}

static void usual_tails(struct call_judge *judge, const struct sketch *sketch)
{
    const struct call_model *m = &judge->model;
    double p = least_p(&judge->opts) / n_tails(m);

    (void)sketch;
    for (uint32_t i = 0; i < m->n_modes; i++)
        call_judge_add_range(judge, shortest(&m->mode[i], p), longest(&m->mode[i], p));
    if (m->n_modes == 0)
        call_judge_add_range(judge, 0, UINT64_MAX);
}

/* ------------------------------------------------------------------------------- public */

static const struct call_detector_ops detectors[] = {
    {"tails", "how rarely normal calls are as far out of the modes of the durations",
     score_tails, usual_tails, 1, false},
    {"sstd", "so many standard deviations from the mean", call_sstd_score, call_sstd_usual, 1e6,
     true},
    {"hbos", "how rare durations like it are in a histogram", call_hbos_score, call_hbos_usual,
     1, true},
    {"copod", "how far out at either end of the durations, by their skewness", call_copod_score,
     call_copod_usual, 1, true},
};

const struct call_detector_ops *call_detector_find(const char *name)
{
    for (size_t i = 0; i < sizeof detectors / sizeof *detectors; i++)
        if (strcmp(detectors[i].name, name) == 0)
            return &detectors[i];
    return NULL;
}

const char *call_detector_name(size_t i)
{
    return i < sizeof detectors / sizeof *detectors ? detectors[i].name : NULL;
}

static double noise_of(const struct call_model *m, const struct sketch *s)
{
    return s->n >= NOISE_CALLS ? sketch_quantile(s, 1 - NOISE_SHARE) - m->median : INFINITY;
}

static bool takes_short(const struct call_detector_ops *ops,
                        const struct call_detector_opts *opts)
{
    if (opts->takes_short == CALL_SHORT_USUAL)
        return ops->is_published || !opts->may_wait;
    return opts->takes_short == CALL_SHORT_ALL ||
           (opts->takes_short == CALL_SHORT_WORK && !opts->may_wait);
}

void call_judge_fit(struct call_judge *judge, const struct call_detector_ops *ops,
                    const struct call_detector_opts *opts, const struct sketch *sketch)
{
    judge->ops = ops;
    judge->opts = *opts;
    judge->takes_short = takes_short(ops, opts);
    call_model_fit(&judge->model, sketch);
    judge->noise_ns = noise_of(&judge->model, sketch);
    judge->n_ranges = 0;
    ops->usual(judge, sketch);
}

void call_judge_copy(struct call_judge *into, const struct call_judge *from)
{
    struct call_judge kept = *into;

    *into = *from;
    into->range = kept.range;
    into->range_cap = kept.range_cap;
    mem_grow(&into->range, &into->range_cap, from->n_ranges, sizeof *into->range);
    if (from->n_ranges > 0)
        memcpy(into->range, from->range, from->n_ranges * sizeof *into->range);
}

void call_judge_release(struct call_judge *judge)
{
    free(judge->range);
    *judge = (struct call_judge){0};
}

uint64_t call_ns(double ns)
{
    return ns <= 0 ? 0 : ns >= 0x1p63 ? UINT64_MAX : (uint64_t)ns;
}

void call_judge_add_range(struct call_judge *judge, uint64_t least_ns, uint64_t most_ns)
{
    mem_grow(&judge->range, &judge->range_cap, (size_t)judge->n_ranges + 1,
             sizeof *judge->range);
    judge->range[judge->n_ranges++] = (struct call_range){least_ns, most_ns};
}

struct call_judgement call_judge_score(const struct call_judge *judge,
                                       const struct sketch *sketch, uint64_t duration_ns)
{
    return (struct call_judgement){.score = judge->ops->score(judge, sketch, duration_ns),
                                   .p = p_of(&judge->model, duration_ns)};
}

double call_noise(double *noise_ns, size_t n)
{
    qsort(noise_ns, n, sizeof *noise_ns, order_f64);
    while (n > 0 && isinf(noise_ns[n - 1]))
        n--;
    return n > 0 ? noise_ns[n / 4] : 0;
}

double call_least_effect(const struct call_detector_ops *ops, double tick_ns, double noise_ns)
{
    return ops->is_published
               ? 0
               : fmax(MIN_LOST_NS, fmax(MIN_TICKS * tick_ns, MIN_NOISES * noise_ns));
}
