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
                                        uint64_t duration_ns,
                                        const struct call_detector_opts *opts)
{
    double z = fabs((double)duration_ns - m->mean) / fmax(m->deviation, LEAST_DEVIATION);

    (void)s;
    return (struct call_judgement){
        .score = z,
        .p = erfc(z / sqrt(2)),
        .is_anomaly = z > (opts->sigmas > 0 ? opts->sigmas : SIGMAS) && m->deviation > 0};
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

/* ---------------------------------------------------------------------------------- hbos */

/* The share of the calls in the bin of this duration. */
static double share_at(const struct sketch *s, uint64_t duration_ns)
{
    uint32_t bin = sketch_bin(duration_ns) - s->first_bin;

    return bin < s->n_bins ? (double)s->count[bin] / (double)s->n : 0;
}

/* Every mode thins out on both sides; a duration is as likely as they make it together. */
static struct call_judgement judge_hbos(const struct call_model *m, const struct sketch *s,
                                        uint64_t duration_ns,
                                        const struct call_detector_opts *opts)
{
    double x = log((double)duration_ns + 1), p = 0;

    for (uint32_t i = 0; i < m->n_modes; i++) {
        const struct call_mode *mode = &m->mode[i];

        p += x > mode->high.edge ? p_high(mode, x) : p_low(mode, x);
    }
    p = m->n_modes > 0 ? fmin(p, 1) : 1;
    return (struct call_judgement){.score = log_share(share_at(s, duration_ns)),
                                   .p = p,
                                   .is_anomaly = p < (opts->p > 0 ? opts->p : LEAST_P)};
}

/* --------------------------------------------------------------------------------- copod */

/* Only the ends count: what is between modes is never strange. */
static struct call_judgement judge_copod(const struct call_model *m, const struct sketch *s,
                                         uint64_t duration_ns,
                                         const struct call_detector_opts *opts)
{
    double x = log((double)duration_ns + 1), below = 0, low, high, p;

    for (uint32_t b = 0; b < s->n_bins && s->first_bin + b <= sketch_bin(duration_ns); b++)
        below += (double)s->count[b];
    below /= (double)s->n;
    low = fmax(below, 1 / (double)s->n);
    high = fmax(1 - below, 1 / (double)s->n);
    p = m->n_modes == 0
            ? 1
            : fmin(1, 2 * fmin(p_low(&m->mode[0], x), p_high(&m->mode[m->n_modes - 1], x)));
    return (struct call_judgement){.score = fmax(log_share(low), log_share(high)),
                                   .p = p,
                                   .is_anomaly = p < (opts->p > 0 ? opts->p : LEAST_P)};
}

static const struct call_detector_ops detectors[] = {
    {"hbos", "how rare durations like it are, by the modes of their histogram", judge_hbos},
    {"sstd", "standard deviations from the mean", judge_sstd},
    {"copod", "how far out at either end of the durations", judge_copod},
};

const struct call_detector_ops *call_detector_find(const char *name)
{
    for (size_t i = 0; i < sizeof detectors / sizeof *detectors; i++)
        if (strcmp(detectors[i].name, name) == 0)
            return &detectors[i];
    return NULL;
}
