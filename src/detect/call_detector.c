/*
 * Of a sketch first the model is made: the modes of the durations, and how they thin out. Then
 * a method says which durations are not strange, as ranges, so that a call is judged by a few
 * comparisons.
 */
#include "detect/call_detector.h"

#include "base/mem.h"
#include "base/named.h"
#include "base/order.h"
#include "base/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORE 0.999        /* share of the calls that are taken for normal */
#define MIN_MODE 0.001    /* share of the calls, */
#define MIN_MODE_CALLS 30 /* and calls: less is no mode of its own */
#define MAX_STRANGE 0.02  /* share of the calls that may be anomalies */
#define CLOSE 0.2         /* ln of the duration that nine in ten calls of a rare mode span */
#define GAP 0.2           /* ln of the duration: modes that are closer are one */
#define OUTER 0.2         /* share of a mode where its tail is looked at first */
#define JUMP 2.0          /* an octave so many times those around it is a gap */
#define AFTER 3           /* octaves after it that are looked at */
#define MAX_OCTAVES 64    /* more than any count has */
#define MIN_OUTSIDE 0.5   /* calls beyond the last octave that is looked at */
#define MAX_CUTS 8        /* times that a tail is cut */
#define EDGE 0.00625      /* share of a mode beyond its outermost knot, */
#define MIN_EDGE 2.5      /* and calls: at least, */
#define MAX_EDGE 20.0     /* and at most, */
#define DEEPEST 1e-4      /* or that share */
#define STRETCH 4.0       /* calls beyond a knot, per call beyond the next one, at most */
#define INSIDE 0.3        /* share of a mode beyond the innermost knot, at most */
#define MIN_SCALE 0.1     /* ln of the duration per nat: 10 % */
#define STEP (1.0 / 64)
#define MIN_P 1e-5
#define NOISE_CALLS 1000  /* that tell the noise, */
#define NOISE_SHARE 0.002 /* which so many of them are beyond: rarer ones may be anomalies */
#define MIN_LOST_NS 1e3
#define MIN_TICKS 10
#define MIN_NOISES 2
#define SIGMAS 6.0
#define SCORE_SHARE 0.99
#define MAX_BINS 200u
#define MIN_DEVIATION 1e-10 /* for scores where all calls take the same */
#define MIN_SHARE 78.88e-32 /* added to shares before their logarithm: scores end at 100 */
#define MIN_SCORE 1.00001   /* 2 to the lowest threshold: one bin has no strange calls */

/* ------------------------------------------------------------------------------------ model */

/*
 * Modes are found in ln(duration + 1), as durations spread in proportion. The histogram is
 * smoothed, the densest part that holds all but one in a thousand calls is the core, and its
 * connected pieces are the modes. A piece that few calls are in is a mode when they are close
 * to each other; else they are in the tail of the mode before, or beyond it.
 *
 * A tail is seen from octave to octave of its calls: beyond the outermost fifth, the outermost
 * tenth, and so on. Where an octave is several times as long as those before and after it, what
 * is beyond it stands apart, and is left out, if it is one call in fifty at most: these may be
 * the anomalies. A tail that only becomes heavier is the tail that these calls have. What is
 * left thins out as a Pareto distribution, whose scale two stretches before its end tell, and
 * the rarest calls are as far out as that says (Weissman, Journal of the American Statistical
 * Association 73, 1978). Departs from it: the scale is the mean of both stretches where the
 * outer one is shorter, as a tail is not believed to be lighter than that.
 */

/* A histogram over equal steps of ln(duration + 1). */
struct density {
    double begin, step;
    uint32_t n;
    double *count, *smooth; /* [n] */
    double *below;          /* [n + 1] calls in the steps before */
};

static double log_of(double duration_ns)
{
    return log(duration_ns + 1);
}

/* Counts of a bin of the sketch go to the step of its middle. */
static void density_init(struct density *d, const struct sketch *s)
{
    *d = (struct density){.begin = log_of((double)s->min) - STEP, .step = STEP};
    d->n = (uint32_t)((log_of((double)s->max) - d->begin) / STEP) + 2;
    d->count = mem_alloc(d->n, sizeof *d->count);
    d->smooth = mem_alloc(d->n, sizeof *d->smooth);
    for (uint32_t b = 0; b < s->n_bins; b++) {
        double low = (double)sketch_bin_start(s->first_bin + b);
        double high = (double)sketch_bin_start(s->first_bin + b + 1) - 1;
        double middle = fmin(fmax((low + high) / 2, (double)s->min), (double)s->max);

        if (s->count[b] > 0)
            d->count[(uint32_t)((log_of(middle) - d->begin) / STEP)] += (double)s->count[b];
    }
    d->below = mem_alloc((size_t)d->n + 1, sizeof *d->below);
    for (uint32_t i = 0; i < d->n; i++)
        d->below[i + 1] = d->below[i] + d->count[i];
}

/* Calls in the steps first .. last. */
static double calls_in(const struct density *d, uint32_t first, uint32_t last)
{
    return d->below[last + 1] - d->below[first];
}

/* Value that a share q of the calls in the steps first .. last is below. */
static double quantile(const struct density *d, uint32_t first, uint32_t last, double q)
{
    double below = d->below[first] + q * calls_in(d, first, last);
    /* the first step whose end has as many below it */
    uint32_t from = FIRST_NOT(i, first, last, d->below[i + 1] < below);

    while (d->count[from] == 0 && from < last)
        from++;
    if (d->count[from] == 0)
        return d->begin + STEP * (last + 1);
    return d->begin + STEP * (from + fmin((below - d->below[from]) / d->count[from], 1));
}

/* A box as wide as the spread and the number of calls allow (Silverman's rule). */
static uint32_t bandwidth(const struct density *d, double n)
{
    double spread = quantile(d, 0, d->n - 1, 0.75) - quantile(d, 0, d->n - 1, 0.25);
    double width = 0.9 * spread / 1.34 * pow(n, -0.2);

    return (uint32_t)fmin(fmax(width / STEP, 2), 32);
}

static void smooth(struct density *d, uint32_t width)
{
    double sum = 0;

    for (uint32_t i = 0; i < d->n + width; i++) {
        if (i < d->n)
            sum += d->count[i];
        if (i > 2 * width)
            sum -= d->count[i - 2 * width - 1];
        if (i >= width)
            d->smooth[i - width] = sum;
    }
}

static int by_density_down(const void *a, const void *b)
{
    double x = ((const double *)a)[0], y = ((const double *)b)[0];

    return ORDER(y, x);
}

/* The density below which the thinnest thousandth of the calls is. */
static double core_density(const struct density *d, double n)
{
    double(*step)[2] = mem_alloc(d->n, sizeof *step), sum = 0, least = 0;
    uint32_t n_steps = 0;

    for (uint32_t i = 0; i < d->n; i++)
        if (d->count[i] > 0) {
            step[n_steps][0] = d->smooth[i];
            step[n_steps++][1] = d->count[i];
        }
    qsort(step, n_steps, sizeof *step, by_density_down);
    for (uint32_t i = 0; i < n_steps && sum < CORE * n; i++) {
        sum += step[i][1];
        least = step[i][0];
    }
    free(step);
    return least;
}

/* ---------------------------------------------------------------------------------- tails */

/* One side of a mode, to where the next one begins, without what was cut off. */
struct mode_side {
    const struct density *d;
    uint32_t first, last; /* steps of d; outwards is up on the high side, down on the low one */
    bool is_high;
    double total; /* calls */
};

/* Value that so many calls of the side are beyond. */
static double outermost(const struct mode_side *s, double calls)
{
    double q = calls / s->total;

    return quantile(s->d, s->first, s->last, s->is_high ? 1 - q : q);
}

/* The same, but beyond the whole step, and its calls' bins, that the value is in. */
static double outer_end(const struct mode_side *s, double calls)
{
    double x = (outermost(s, calls) - s->d->begin) / STEP;

    return s->d->begin + STEP * (s->is_high ? ceil(x) + 0.5 : floor(x) - 0.5);
}

/* Cuts off what is outwards of where the calls between two values are sparsest. */
static void cut(struct mode_side *s, double from, double to)
{
    const struct density *d = s->d;
    uint32_t begin = (uint32_t)((fmin(from, to) - d->begin) / STEP);
    uint32_t end = (uint32_t)((fmax(from, to) - d->begin) / STEP),
             width = (uint32_t)(GAP / STEP);
    double sum = 0, least = INFINITY;

    for (uint32_t i = 1; i < end - begin;
         i++) { /* outwards; the last of `width` steps, or fewer */
        uint32_t at = s->is_high ? begin + i : end - i;

        sum += d->count[at];
        if (i > width)
            sum -= d->count[s->is_high ? at - width : at + width];
        if (i < width || sum > least)
            continue;
        least = sum;
        if (s->is_high)
            s->last = at;
        else
            s->first = at;
    }
}

/*
 * Where the octaves end: the value that OUTER of the calls are beyond, half of them, and so on.
 *   end  [MAX_OCTAVES + 1] out
 * Returns how many octaves there are.
 */
static int find_octaves(const struct mode_side *s, double *end)
{
    double calls = OUTER * s->total;
    int n = 0;

    for (end[0] = outermost(s, calls); calls / 2 >= MIN_OUTSIDE && n < MAX_OCTAVES; calls /= 2)
        end[++n] = outermost(s, calls / 2);
    return n;
}

/* How long an octave has to be to stand out of those around it. */
static double least_gap(const double *end, int octave, int n, double calls, double before)
{
    double after = 0;

    for (int i = octave + 1; i <= octave + AFTER && i < n; i++)
        after += fabs(end[i + 1] - end[i]) / AFTER;
    return fmax(GAP, JUMP * fmax(before * (1 + 3 / sqrt(calls)), after));
}

/* Cuts at the first octave that stands out. Returns whether there is one. */
static bool cut_once(struct mode_side *s, double most)
{
    double end[MAX_OCTAVES + 1], calls = OUTER / 2 * s->total;
    int n = find_octaves(s, end);
    double before = fabs(end[0] - outermost(s, s->total / 2)) * M_LN2 / log(0.5 / OUTER);

    for (int i = 0; i < n; i++, calls /= 2) { /* so many are beyond the octave */
        double width = fabs(end[i + 1] - end[i]);

        if (calls <= most && width > least_gap(end, i, n, calls, before)) {
            cut(s, end[i], end[i + 1]);
            s->total = calls_in(s->d, s->first, s->last);
            return true;
        }
        before = (before + width) / 2;
    }
    return false;
}

/* How the calls of a side thin out. */
static struct call_tail tail_of(struct mode_side side, double n)
{
    double whole = calls_in(side.d, side.first, side.last), edge, at[CALL_TAIL_KNOTS], near,
           far;
    struct call_tail tail;

    side.total = whole;
    for (int i = 0; i < MAX_CUTS; i++)
        if (!cut_once(&side, fmin(MAX_STRANGE * n, OUTER / 2 * whole)))
            break;
    edge = fmax(EDGE * side.total, MIN_EDGE);
    edge = fmin(edge, fmax(MAX_EDGE, DEEPEST * side.total));
    edge = fmin(edge, side.total / 8);
    tail.share = edge / n;
    tail.stretch = fmin(STRETCH, pow(INSIDE * side.total / edge, 1.0 / (CALL_TAIL_KNOTS - 1)));
    for (int i = 0; i < CALL_TAIL_KNOTS; i++, edge *= tail.stretch) {
        at[i] = outermost(&side, edge);
        tail.at[i] = outer_end(&side, edge);
    }
    far = fabs(at[0] - at[1]) / log(tail.stretch);
    near = fabs(at[1] - at[2]) / log(tail.stretch);
    tail.scale = fmax(fmax(far, (near + far) / 2), MIN_SCALE);
    return tail;
}

/* ---------------------------------------------------------------------------------- modes */

/* A piece of the core: steps first .. last. */
struct core_piece {
    uint32_t first, last;
};

static bool is_mode(const struct density *d, struct core_piece piece, double n)
{
    double total = calls_in(d, piece.first, piece.last), span;

    if (total >= MAX_STRANGE * n)
        return true;
    span =
        quantile(d, piece.first, piece.last, 0.95) - quantile(d, piece.first, piece.last, 0.05);
    return span <= CLOSE && total >= fmax(MIN_MODE * n, MIN_MODE_CALLS);
}

/* The next piece from step *at on. Returns whether there is one. */
static bool next_piece(const struct density *d, double least, uint32_t *at,
                       struct core_piece *piece)
{
    bool is_open = false;

    for (uint32_t i = *at; i < d->n; i++) {
        if (d->smooth[i] < least || d->count[i] == 0)
            continue;
        if (is_open && (i - piece->last) * STEP > GAP)
            break;
        if (!is_open)
            piece->first = i;
        is_open = true;
        piece->last = i;
    }
    *at = is_open ? piece->last + 1 : d->n;
    return is_open;
}

/* Modes; where there are many, the last ones are one wide mode. Returns how many. */
static uint32_t find_pieces(const struct density *d, double n,
                            struct core_piece mode[CALL_DETECTOR_MAX_MODES])
{
    double least = core_density(d, n);
    uint32_t n_modes = 0, at = 0;
    struct core_piece piece;

    while (next_piece(d, least, &at, &piece)) {
        if (!is_mode(d, piece, n))
            continue;
        if (n_modes == CALL_DETECTOR_MAX_MODES)
            mode[n_modes - 1].last = piece.last;
        else
            mode[n_modes++] = piece;
    }
    return n_modes;
}

/* A tail reaches to where the next mode begins. */
static void find_modes(struct call_model *m, const struct density *d)
{
    struct core_piece mode[CALL_DETECTOR_MAX_MODES];
    double n = (double)m->n;

    m->n_modes = find_pieces(d, n, mode);
    for (uint32_t i = 0; i < m->n_modes; i++) {
        uint32_t begin = i > 0 ? mode[i - 1].last + 1 : 0;
        uint32_t end = i + 1 < m->n_modes ? mode[i + 1].first - 1 : d->n - 1;

        m->mode[i].low = tail_of((struct mode_side){d, begin, mode[i].last, false, 0}, n);
        m->mode[i].high = tail_of((struct mode_side){d, mode[i].first, end, true, 0}, n);
    }
}

/*
 * The sketch may hold the anomalies too, up to one call in fifty, as long as they stand apart
 * from the others: what is beyond a gap is not taken for the tail of what is before it.
 * O(bins).
 */
static void fit(struct call_model *m, const struct sketch *s)
{
    struct density d;

    *m = (struct call_model){.n = s->n,
                             .mean = sketch_mean(s),
                             .deviation = sketch_deviation(s),
                             .median = sketch_quantile(s, 0.5)};
    density_init(&d, s);
    smooth(&d, bandwidth(&d, (double)s->n));
    find_modes(m, &d);
    free(d.count);
    free(d.smooth);
    free(d.below);
}

/* ----------------------------------------------------------------------------------- ranges */

/* The duration that a real number of ns is, within what there is. */
static uint64_t duration_of(double ns)
{
    return ns <= 0 ? 0 : ns >= 0x1p63 ? UINT64_MAX : (uint64_t)ns;
}

static void add_range(struct call_judge *judge, uint64_t least_ns, uint64_t most_ns)
{
    *mem_push(&judge->range, &judge->n_ranges, &judge->range_cap) =
        (struct call_range){least_ns, most_ns};
}

/* -log2 of a share 0..1 of the calls, 100 of none. */
static double log_share(double share)
{
    return -log2(share + MIN_SHARE);
}

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

/* Tails in which a call that lost time can be. */
static double n_tails(const struct call_model *m)
{
    return m->n_modes > 0 ? 2 * m->n_modes - 1 : 1;
}

/* By the share of the calls in its bin. */
static double score_tails(const struct call_judge *judge, const struct sketch *s,
                          uint64_t duration_ns)
{
    uint32_t bin = sketch_bin(duration_ns) - s->first_bin;

    (void)judge;
    return log_share(bin < s->n_bins ? (double)s->count[bin] / (double)s->n : 0);
}

static void typical_tails(struct call_judge *judge, const struct sketch *sketch)
{
    const struct call_model *m = &judge->model;
    double p = (judge->opts.p > 0 ? judge->opts.p : MIN_P) / n_tails(m);

    (void)sketch;
    for (uint32_t i = 0; i < m->n_modes; i++) {
        double shortest = expm1(threshold(&m->mode[i].low, p, -1));
        double longest = expm1(threshold(&m->mode[i].high, p, 1));

        add_range(judge, duration_of(ceil(shortest)), duration_of(longest));
    }
    if (m->n_modes == 0)
        add_range(judge, 0, UINT64_MAX);
}

/* -------------------------------------------------------------------------- published rules */

/*
 * A duration is taken for the smallest one of its bin in the sketch. So hbos and copod score
 * bins, and what is not strange is runs of them; what is shorter or longer than all calls is
 * strange to both.
 */

/* ---------------------------------------------------------------------------------- sstd */

static double sample_deviation(const struct call_model *m)
{
    return m->n > 1 ? m->deviation * sqrt((double)m->n / (double)(m->n - 1)) : 0;
}

static double score_sstd(const struct call_judge *judge, const struct sketch *sketch,
                         uint64_t duration_ns)
{
    const struct call_model *m = &judge->model;

    (void)sketch;
    return fabs((double)duration_ns - m->mean) / fmax(sample_deviation(m), MIN_DEVIATION);
}

static void typical_sstd(struct call_judge *judge, const struct sketch *sketch)
{
    const struct call_model *m = &judge->model;
    double width = (judge->opts.sigmas > 0 ? judge->opts.sigmas : SIGMAS) * sample_deviation(m);

    if (sketch->min == sketch->max)
        add_range(judge, sketch->min, sketch->max);
    else
        add_range(judge, duration_of(ceil(m->mean - width)), duration_of(m->mean + width));
}

/* ------------------------------------------------------------------- rules about scores */

/* The bins of a sketch from that of its shortest call to that of its longest. */
struct scored_bins {
    uint32_t first, n;
    double *score; /* [n] */
};

static struct scored_bins scored_bins(const struct sketch *s)
{
    struct scored_bins bins = {.first = sketch_bin(s->min)};

    bins.n = sketch_bin(s->max) - bins.first + 1;
    bins.score = mem_alloc(bins.n, sizeof *bins.score);
    return bins;
}

/* Calls in a bin that is between the first and the last. */
static double calls_of_bin(const struct sketch *s, const struct scored_bins *bins, uint32_t i)
{
    return (double)s->count[bins->first + i - s->first_bin];
}

static double threshold_of(const struct call_judge *judge, const struct sketch *s,
                           const struct scored_bins *bins)
{
    const struct call_detector_opts *opts = &judge->opts;
    double share = opts->score_share > 0 ? opts->score_share : SCORE_SHARE, threshold;
    double least = INFINITY, most = -INFINITY;

    for (uint32_t i = 0; i < bins->n; i++)
        if (calls_of_bin(s, bins, i) > 0) {
            least = fmin(least, bins->score[i]);
            most = fmax(most, bins->score[i]);
        }
    threshold = fmax(least + share * (most - least), log2(MIN_SCORE));
    return opts->is_local ? threshold : fmax(threshold, judge->least_score);
}

/* Takes the bins: what scores less than the threshold is typical. */
static void add_typical(struct call_judge *judge, const struct sketch *s,
                        struct scored_bins bins)
{
    judge->least_score = threshold_of(judge, s, &bins);
    for (uint32_t i = 0, begin; i < bins.n; i++) {
        for (begin = i; i < bins.n && bins.score[i] < judge->least_score; i++)
            ;
        if (i > begin)
            add_range(judge, sketch_bin_start(bins.first + begin),
                      sketch_bin_start(bins.first + i) - 1);
    }
    free(bins.score);
}

/* ---------------------------------------------------------------------------------- hbos */

/* Where a bin of the sketch is among n of equal width. */
static uint32_t place_of(const struct scored_bins *bins, uint32_t i, uint32_t n)
{
    double low = (double)sketch_bin_start(bins->first);
    double range = (double)sketch_bin_start(bins->first + bins->n - 1) - low;
    double at = (double)sketch_bin_start(bins->first + i) - low;

    return range > 0 ? (uint32_t)fmin(at * n / range, n - 1) : 0;
}

static struct scored_bins hbos_scores(const struct call_judge *judge, const struct sketch *s)
{
    uint32_t n = judge->opts.most_bins > 0 ? judge->opts.most_bins : MAX_BINS;
    double *count = mem_alloc(n, sizeof *count);
    struct scored_bins bins = scored_bins(s);

    for (uint32_t i = 0; i < bins.n; i++)
        count[place_of(&bins, i, n)] += calls_of_bin(s, &bins, i);
    for (uint32_t i = 0; i < bins.n; i++)
        bins.score[i] = log_share(count[place_of(&bins, i, n)] / (double)s->n);
    free(count);
    return bins;
}

static double score_hbos(const struct call_judge *judge, const struct sketch *s,
                         uint64_t duration_ns)
{
    struct scored_bins bins = hbos_scores(judge, s);
    uint32_t i = sketch_bin(duration_ns) - bins.first;
    double score = i < bins.n ? bins.score[i] : log_share(0);

    free(bins.score);
    return score;
}

static void typical_hbos(struct call_judge *judge, const struct sketch *s)
{
    add_typical(judge, s, hbos_scores(judge, s));
}

/* --------------------------------------------------------------------------------- copod */

/* Li et al., equation 11. 0 where there is no spread. */
static double skewness(const struct sketch *s, const struct scored_bins *bins)
{
    double n = (double)s->n, mean = 0, squares = 0, cubes = 0;

    for (uint32_t i = 0; i < bins->n; i++)
        mean += calls_of_bin(s, bins, i) * (double)sketch_bin_start(bins->first + i) / n;
    for (uint32_t i = 0; i < bins->n; i++) {
        double x = (double)sketch_bin_start(bins->first + i) - mean;

        squares += calls_of_bin(s, bins, i) * x * x;
        cubes += calls_of_bin(s, bins, i) * x * x * x;
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
    double left = log_share(at_most), right = log_share(at_least);

    return fmax((left + right) / 2, right * sign(skew + 1) - left * sign(skew - 1));
}

static double score_copod(const struct call_judge *judge, const struct sketch *s,
                          uint64_t duration_ns)
{
    struct scored_bins bins = scored_bins(s);
    double at_most = 0, at_least = 0, skew = skewness(s, &bins);
    uint32_t bin = sketch_bin(duration_ns);

    (void)judge;
    for (uint32_t i = 0; i < bins.n; i++) {
        at_most += bins.first + i <= bin ? calls_of_bin(s, &bins, i) : 0;
        at_least += bins.first + i >= bin ? calls_of_bin(s, &bins, i) : 0;
    }
    free(bins.score);
    return copod(at_most / (double)s->n, at_least / (double)s->n, skew);
}

static void typical_copod(struct call_judge *judge, const struct sketch *s)
{
    struct scored_bins bins = scored_bins(s);
    double below = 0, n = (double)s->n, skew = skewness(s, &bins);

    for (uint32_t i = 0; i < bins.n; i++) {
        double here = calls_of_bin(s, &bins, i);

        bins.score[i] = copod((below + here) / n, (n - below) / n, skew);
        below += here;
    }
    add_typical(judge, s, bins);
}

/* ------------------------------------------------------------------------------- public */

static const struct call_detector_ops call_detectors[] = {
    {"tails", "how rarely normal calls are as far out of the modes of the durations",
     score_tails, typical_tails, 1, false},
    {"sstd", "so many standard deviations from the mean", score_sstd, typical_sstd, 1e6, true},
    {"hbos", "how rare durations like it are in a histogram", score_hbos, typical_hbos, 1,
     true},
    {"copod", "how far out at either end of the durations, by their skewness", score_copod,
     typical_copod, 1, true},
};

const struct call_detector_ops *call_detector_find(const char *name)
{
    return named_find(NAMED(call_detectors), name);
}

const char *call_detector_name(size_t i)
{
    return named_at(NAMED(call_detectors), i);
}

static bool takes_short(const struct call_detector_ops *ops,
                        const struct call_detector_opts *opts)
{
    if (opts->takes_short == CALL_SHORT_TYPICAL)
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
    fit(&judge->model, sketch);
    judge->noise_ns = sketch->n >= NOISE_CALLS
                          ? sketch_quantile(sketch, 1 - NOISE_SHARE) - judge->model.median
                          : INFINITY;
    judge->n_ranges = 0;
    ops->typical(judge, sketch);
}

void call_judge_copy(struct call_judge *into, const struct call_judge *from)
{
    struct call_judge kept = *into;

    *into = *from;
    into->range = kept.range;
    into->range_cap = kept.range_cap;
    mem_grow(&into->range, &into->range_cap, from->n_ranges);
    if (from->n_ranges > 0)
        memcpy(into->range, from->range, from->n_ranges * sizeof *into->range);
}

void call_judge_release(struct call_judge *judge)
{
    free(judge->range);
    *judge = (struct call_judge){0};
}

struct call_judgement call_judge_score(const struct call_judge *judge,
                                       const struct sketch *sketch, uint64_t duration_ns)
{
    const struct call_model *m = &judge->model;
    double x = log1p((double)duration_ns), p = m->n_modes > 0 ? 0 : 1;

    /* every mode thins out on both sides; a duration is as likely as the best of them makes it */
    for (uint32_t i = 0; i < m->n_modes; i++)
        p = fmax(p, fmin(beyond(&m->mode[i].high, x, 1), beyond(&m->mode[i].low, x, -1)));
    return (struct call_judgement){.score = judge->ops->score(judge, sketch, duration_ns),
                                   .p = fmin(p * n_tails(m), 1)};
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
