/*
 * A duration is taken for the smallest one of its bin in the sketch. So hbos and copod score
 * bins, and what is not strange is runs of them; what is shorter or longer than all calls is
 * strange to both.
 */
#include "detect/call_published.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define SIGMAS 6.0
#define SCORE_SHARE 0.99
#define MAX_BINS 200u
#define MIN_DEVIATION 1e-10 /* for scores where all calls take the same */
#define MIN_SHARE 78.88e-32 /* added to shares before their logarithm: scores end at 100 */
#define MIN_SCORE 1.00001   /* 2 to the lowest threshold: one bin has no strange calls */

double call_log_share(double share)
{
    return -log2(share + MIN_SHARE);
}

/* ---------------------------------------------------------------------------------- sstd */

static double sample_deviation(const struct call_model *m)
{
    return m->n > 1 ? m->deviation * sqrt((double)m->n / (double)(m->n - 1)) : 0;
}

double call_sstd_score(const struct call_judge *judge, const struct sketch *sketch,
                       uint64_t duration_ns)
{
    const struct call_model *m = &judge->model;

    (void)sketch;
    return fabs((double)duration_ns - m->mean) / fmax(sample_deviation(m), MIN_DEVIATION);
}

void call_sstd_usual(struct call_judge *judge, const struct sketch *sketch)
{
    const struct call_model *m = &judge->model;
    double width = (judge->opts.sigmas > 0 ? judge->opts.sigmas : SIGMAS) * sample_deviation(m);

    if (sketch->min == sketch->max)
        call_judge_add_range(judge, sketch->min, sketch->max);
    else
        call_judge_add_range(judge, call_ns(ceil(m->mean - width)), call_ns(m->mean + width));
}

/* ------------------------------------------------------------------- rules about scores */

/* The bins of a sketch from that of its shortest call to that of its longest. */
struct scored {
    uint32_t first, n;
    double *score; /* [n] */
};

static struct scored scored_bins(const struct sketch *s)
{
    struct scored bins = {.first = sketch_bin(s->min)};

    bins.n = sketch_bin(s->max) - bins.first + 1;
    bins.score = mem_alloc(bins.n, sizeof *bins.score);
    return bins;
}

/* Calls in a bin that is between the first and the last. */
static double calls_in(const struct sketch *s, const struct scored *bins, uint32_t i)
{
    return (double)s->count[bins->first + i - s->first_bin];
}

static double threshold_of(const struct call_judge *judge, const struct sketch *s,
                           const struct scored *bins)
{
    const struct call_detector_opts *opts = &judge->opts;
    double share = opts->score_share > 0 ? opts->score_share : SCORE_SHARE, threshold;
    double least = INFINITY, most = -INFINITY;

    for (uint32_t i = 0; i < bins->n; i++)
        if (calls_in(s, bins, i) > 0) {
            least = fmin(least, bins->score[i]);
            most = fmax(most, bins->score[i]);
        }
    threshold = fmax(least + share * (most - least), log2(MIN_SCORE));
    return opts->is_local ? threshold : fmax(threshold, judge->least_score);
}

/* Takes the bins: what scores less than the threshold is usual. */
static void add_usual(struct call_judge *judge, const struct sketch *s, struct scored bins)
{
    judge->least_score = threshold_of(judge, s, &bins);
    for (uint32_t i = 0, begin; i < bins.n; i++) {
        for (begin = i; i < bins.n && bins.score[i] < judge->least_score; i++)
            ;
        if (i > begin)
            call_judge_add_range(judge, sketch_bin_start(bins.first + begin),
                                 sketch_bin_start(bins.first + i) - 1);
    }
    free(bins.score);
}

/* ---------------------------------------------------------------------------------- hbos */

/* Where a bin of the sketch is among n of equal width. */
static uint32_t place_of(const struct scored *bins, uint32_t i, uint32_t n)
{
    double low = (double)sketch_bin_start(bins->first);
    double range = (double)sketch_bin_start(bins->first + bins->n - 1) - low;
    double at = (double)sketch_bin_start(bins->first + i) - low;

    return range > 0 ? (uint32_t)fmin(at * n / range, n - 1) : 0;
}

static struct scored hbos_scores(const struct call_judge *judge, const struct sketch *s)
{
    uint32_t n = judge->opts.most_bins > 0 ? judge->opts.most_bins : MAX_BINS;
    double *count = mem_alloc(n, sizeof *count);
    struct scored bins = scored_bins(s);

    for (uint32_t i = 0; i < bins.n; i++)
        count[place_of(&bins, i, n)] += calls_in(s, &bins, i);
    for (uint32_t i = 0; i < bins.n; i++)
        bins.score[i] = call_log_share(count[place_of(&bins, i, n)] / (double)s->n);
    free(count);
    return bins;
}

double call_hbos_score(const struct call_judge *judge, const struct sketch *s,
                       uint64_t duration_ns)
{
    struct scored bins = hbos_scores(judge, s);
    uint32_t i = sketch_bin(duration_ns) - bins.first;
    double score = i < bins.n ? bins.score[i] : call_log_share(0);

    free(bins.score);
    return score;
}

void call_hbos_usual(struct call_judge *judge, const struct sketch *s)
{
    add_usual(judge, s, hbos_scores(judge, s));
}

/* --------------------------------------------------------------------------------- copod */

/* Li et al., equation 11. 0 where there is no spread. */
static double skewness(const struct sketch *s, const struct scored *bins)
{
    double n = (double)s->n, mean = 0, squares = 0, cubes = 0;

    for (uint32_t i = 0; i < bins->n; i++)
        mean += calls_in(s, bins, i) * (double)sketch_bin_start(bins->first + i) / n;
    for (uint32_t i = 0; i < bins->n; i++) {
        double x = (double)sketch_bin_start(bins->first + i) - mean;

        squares += calls_in(s, bins, i) * x * x;
        cubes += calls_in(s, bins, i) * x * x * x;
    }
    return squares > 0 ? cubes / n / pow(squares / (n - 1), 1.5) : 0;
}

static double sign(double x)
{
    return (x > 0) - (x < 0);
}

/* Of shares of the calls that take at most, and at least, as long. */
static double copod(double at_most, double at_least, double skew)
{
    double left = call_log_share(at_most), right = call_log_share(at_least);

    return fmax((left + right) / 2, right * sign(skew + 1) - left * sign(skew - 1));
}

double call_copod_score(const struct call_judge *judge, const struct sketch *s,
                        uint64_t duration_ns)
{
    struct scored bins = scored_bins(s);
    double at_most = 0, at_least = 0, skew = skewness(s, &bins);
    uint32_t bin = sketch_bin(duration_ns);

    (void)judge;
    for (uint32_t i = 0; i < bins.n; i++) {
        at_most += bins.first + i <= bin ? calls_in(s, &bins, i) : 0;
        at_least += bins.first + i >= bin ? calls_in(s, &bins, i) : 0;
    }
    free(bins.score);
    return copod(at_most / (double)s->n, at_least / (double)s->n, skew);
}

void call_copod_usual(struct call_judge *judge, const struct sketch *s)
{
    struct scored bins = scored_bins(s);
    double below = 0, n = (double)s->n, skew = skewness(s, &bins);

    for (uint32_t i = 0; i < bins.n; i++) {
        double here = calls_in(s, &bins, i);

        bins.score[i] = copod((below + here) / n, (n - below) / n, skew);
        below += here;
    }
    add_usual(judge, s, bins);
}
