/* One section per method. */
#include "detect/call_detector.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_P 1e-5
#define LEAST_DEVIATION 1e-10
#define NOISE_CALLS 1000  /* that tell the noise, */
#define NOISE_SHARE 0.002 /* which so many of them are beyond: rarer ones may be anomalies */
#define LEAST_LOST_NS 1e3
#define LEAST_TICKS 10
#define LEAST_NOISES 2
#define LEAST_SHARE 78.88e-32 /* added to shares before their logarithm: scores end at 100 */

/* ----------------------------------------------------------------------------------- tails */

/* The duration in ns that a real number of them is, within what there is. */
static uint64_t to_ns(double ns)
{
    return ns <= 0 ? 0 : ns >= 0x1p63 ? UINT64_MAX : (uint64_t)ns;
}

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

static double log_share(double share)
{
    return -log2(share + LEAST_SHARE);
}

static double least_p(const struct call_detector_opts *opts)
{
    return opts->p > 0 ? opts->p : LEAST_P;
}

static uint64_t longest(const struct call_mode *mode, double p)
{
    return to_ns(expm1(threshold(&mode->high, p, 1)));
}

static uint64_t shortest(const struct call_mode *mode, double p)
{
    return to_ns(ceil(expm1(threshold(&mode->low, p, -1))));
}

/* ---------------------------------------------------------------------------------- hbos */

/* The share of the calls in the bin of this duration. */
static double share_at(const struct sketch *s, uint64_t duration_ns)
{
    uint32_t bin = sketch_bin(duration_ns) - s->first_bin;

    return bin < s->n_bins ? (double)s->count[bin] / (double)s->n : 0;
}

/* Tails in which a call that lost time can be. */
static double n_tails(const struct call_model *m)
{
    return m->n_modes > 0 ? 2 * m->n_modes - 1 : 1;
}

/* Every mode thins out on both sides; a duration is as likely as the best of them makes it. */
static struct call_judgement judge_hbos(const struct call_model *m, const struct sketch *s,
                                        uint64_t duration_ns)
{
    double x = log1p((double)duration_ns), p = m->n_modes > 0 ? 0 : 1;

    for (uint32_t i = 0; i < m->n_modes; i++)
        p = fmax(p, fmin(p_high(&m->mode[i], x), p_low(&m->mode[i], x)));
    return (struct call_judgement){.score = log_share(share_at(s, duration_ns)),
                                   .p = fmin(p * n_tails(m), 1)};
}

static uint32_t usual_hbos(const struct call_model *m, const struct call_detector_opts *opts,
                           struct call_range *range)
{
    double p = least_p(opts) / n_tails(m);

    range[0] = (struct call_range){0, UINT64_MAX};
    for (uint32_t i = 0; i < m->n_modes; i++)
        range[i] = (struct call_range){shortest(&m->mode[i], p), longest(&m->mode[i], p)};
    return m->n_modes > 0 ? m->n_modes : 1;
}

/* --------------------------------------------------------------------------------- copod */

static double share_up_to(const struct sketch *s, uint64_t duration_ns)
{
    uint32_t last = sketch_bin(duration_ns);
    double below = 0;

    for (uint32_t b = 0; b < s->n_bins && s->first_bin + b <= last; b++)
        below += (double)s->count[b];
    return below / (double)s->n;
}

/* Of the first and the last mode: what is between modes is never strange. */
static double p_outside(const struct call_model *m, uint64_t duration_ns)
{
    double x = log1p((double)duration_ns);

    return m->n_modes > 0 ? fmin(p_low(&m->mode[0], x), p_high(&m->mode[m->n_modes - 1], x))
                          : 1;
}

static struct call_judgement judge_copod(const struct call_model *m, const struct sketch *s,
                                         uint64_t duration_ns)
{
    double below = share_up_to(s, duration_ns);
    double low = fmax(below, 1 / (double)s->n), high = fmax(1 - below, 1 / (double)s->n);

    return (struct call_judgement){.score = fmax(log_share(low), log_share(high)),
                                   .p = p_outside(m, duration_ns)};
}

static uint32_t usual_copod(const struct call_model *m, const struct call_detector_opts *opts,
                            struct call_range *range)
{
    double p = least_p(opts);

    range[0] = (struct call_range){0, UINT64_MAX};
    if (m->n_modes > 0)
        range[0] =
            (struct call_range){shortest(&m->mode[0], p), longest(&m->mode[m->n_modes - 1], p)};
    return 1;
}

/* ---------------------------------------------------------------------------------- sstd */

/* Standard deviations from the mean; what that is worth, the tails tell as they do for copod.
 */
static struct call_judgement judge_sstd(const struct call_model *m, const struct sketch *s,
                                        uint64_t duration_ns)
{
    double z = fabs((double)duration_ns - m->mean) / fmax(m->deviation, LEAST_DEVIATION);

    (void)s;
    return (struct call_judgement){.score = z, .p = p_outside(m, duration_ns)};
}

static uint32_t usual_sstd(const struct call_model *m, const struct call_detector_opts *opts,
                           struct call_range *range)
{
    double width = opts->sigmas * m->deviation;

    if (opts->sigmas <= 0)
        return usual_copod(m, opts, range);
    /* without any spread nothing can be said */
    range[0] = m->deviation > 0
                   ? (struct call_range){to_ns(ceil(m->mean - width)), to_ns(m->mean + width)}
                   : (struct call_range){0, UINT64_MAX};
    return 1;
}

/* ------------------------------------------------------------------------------- public */

static const struct call_detector_ops detectors[] = {
    {"hbos", "how rare durations like it are, by the modes of their histogram", judge_hbos,
     usual_hbos, 1},
    {"sstd", "standard deviations from the mean", judge_sstd, usual_sstd, 1e6},
    {"copod", "how far out at either end of the durations", judge_copod, usual_copod, 1},
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

void call_judge_init(struct call_judge *judge, const struct call_detector_ops *ops,
                     const struct call_detector_opts *opts, const struct sketch *sketch)
{
    judge->ops = ops;
    judge->may_wait = opts->may_wait;
    call_model_fit(&judge->model, sketch);
    judge->noise_ns = noise_of(&judge->model, sketch);
    judge->n_ranges = ops->usual(&judge->model, opts, judge->range);
}

double call_noise(double *noise_ns, size_t n)
{
    qsort(noise_ns, n, sizeof *noise_ns, order_f64);
    while (n > 0 && isinf(noise_ns[n - 1]))
        n--;
    return n > 0 ? noise_ns[n / 4] : 0;
}

double call_least_effect(double tick_ns, double noise_ns)
{
    return fmax(LEAST_LOST_NS, fmax(LEAST_TICKS * tick_ns, LEAST_NOISES * noise_ns));
}
