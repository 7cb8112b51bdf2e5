/* One section per method. */
#include "detect/call_detector.h"

#include <math.h>
#include <string.h>

#define SIGMAS 6.0
#define LEAST_P 1e-5
#define LEAST_DEVIATION 1e-10
#define LEAST_SHARE 78.88e-32 /* added to shares before their logarithm: scores end at 100 */

/* ---------------------------------------------------------------------------------- sstd */

/* Standard deviations from the mean, as if durations were normal. */
static struct call_judgement judge_sstd(const struct call_model *m, const struct sketch *s,
                                        uint64_t duration_ns)
{
    double z = fabs((double)duration_ns - m->mean) / fmax(m->deviation, LEAST_DEVIATION);

    (void)s;
    return (struct call_judgement){.score = z, .p = erfc(z / sqrt(2))};
}

/* The duration in ns that a real number of them is, within what there is. */
static uint64_t to_ns(double ns)
{
    return ns <= 0 ? 0 : ns >= 0x1p63 ? UINT64_MAX : (uint64_t)ns;
}

static uint32_t usual_sstd(const struct call_model *m, const struct call_detector_opts *opts,
                           struct call_range *range)
{
    double width = (opts->sigmas > 0 ? opts->sigmas : SIGMAS) * m->deviation;

    /* without any spread nothing can be said */
    range[0] = m->deviation > 0
                   ? (struct call_range){to_ns(ceil(m->mean - width)), to_ns(m->mean + width)}
                   : (struct call_range){0, UINT64_MAX};
    return 1;
}

/* ----------------------------------------------------------------------------------- tails */

/* Share of the normal calls that are further out; 1 inside the edge. */
static double beyond(const struct call_tail *tail, double distance)
{
    return distance <= 0 ? 1 : tail->share * exp(-distance / tail->scale);
}

static double p_high(const struct call_mode *mode, double x)
{
    return beyond(&mode->high, x - mode->high.edge);
}

static double p_low(const struct call_mode *mode, double x)
{
    return beyond(&mode->low, mode->low.edge - x);
}

static double log_share(double share)
{
    return -log2(share + LEAST_SHARE);
}

static double least_p(const struct call_detector_opts *opts)
{
    return opts->p > 0 ? opts->p : LEAST_P;
}

/* How far beyond its edge a tail is as thin as p. */
static double reach(const struct call_tail *tail, double p)
{
    return tail->scale * fmax(log(tail->share / p), 0);
}

static uint64_t longest(const struct call_mode *mode, double p)
{
    return to_ns(expm1(mode->high.edge + reach(&mode->high, p)));
}

static uint64_t shortest(const struct call_mode *mode, double p)
{
    return to_ns(ceil(expm1(mode->low.edge - reach(&mode->low, p))));
}

/* ---------------------------------------------------------------------------------- hbos */

/* The share of the calls in the bin of this duration. */
static double share_at(const struct sketch *s, uint64_t duration_ns)
{
    uint32_t bin = sketch_bin(duration_ns) - s->first_bin;

    return bin < s->n_bins ? (double)s->count[bin] / (double)s->n : 0;
}

/* Every mode thins out on both sides; a duration is as likely as the best of them makes it. */
static struct call_judgement judge_hbos(const struct call_model *m, const struct sketch *s,
                                        uint64_t duration_ns)
{
    double x = log1p((double)duration_ns), p = m->n_modes > 0 ? 0 : 1;

    for (uint32_t i = 0; i < m->n_modes; i++)
        p = fmax(p, x > m->mode[i].high.edge ? p_high(&m->mode[i], x) : p_low(&m->mode[i], x));
    return (struct call_judgement){.score = log_share(share_at(s, duration_ns)), .p = p};
}

static uint32_t usual_hbos(const struct call_model *m, const struct call_detector_opts *opts,
                           struct call_range *range)
{
    double p = least_p(opts);

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

/* Only the ends count: what is between modes is never strange. */
static struct call_judgement judge_copod(const struct call_model *m, const struct sketch *s,
                                         uint64_t duration_ns)
{
    double x = log1p((double)duration_ns), below = share_up_to(s, duration_ns);
    double low = fmax(below, 1 / (double)s->n), high = fmax(1 - below, 1 / (double)s->n), p = 1;

    if (m->n_modes > 0)
        p = fmin(p_low(&m->mode[0], x), p_high(&m->mode[m->n_modes - 1], x));
    return (struct call_judgement){.score = fmax(log_share(low), log_share(high)), .p = p};
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

void call_judge_init(struct call_judge *judge, const struct call_detector_ops *ops,
                     const struct call_detector_opts *opts, const struct sketch *sketch)
{
    judge->ops = ops;
    call_model_fit(&judge->model, sketch);
    judge->n_ranges = ops->usual(&judge->model, opts, judge->range);
}
