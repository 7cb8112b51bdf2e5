/*
 * Modes are found in ln(duration + 1), as durations spread in proportion. The histogram is
 * smoothed, the densest part that holds all but one in a thousand calls is the core, and its
 * connected pieces are the modes. A mode ends where its quantiles say; beyond its edge it is
 * taken to thin out exponentially, at a rate that its outer quantiles tell.
 */
#include "detect/call_detector.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define CORE 0.999         /* share of the calls that are taken for normal */
#define LEAST_MODE 0.001   /* share of the calls, */
#define LEAST_MODE_CALLS 8 /* and calls: less is no mode of its own */
#define LEAST_SCALE 0.1    /* ln of the duration per nat: 10 % */
#define EDGE 0.005         /* share of a mode beyond its edge, on each side; */
#define EDGE_CALLS 2.5     /* and calls */
#define INNER 0.2          /* shares between which is seen how a mode thins out */
#define MIDDLE 0.05
#define GAP 0.2             /* ln of the duration: modes that are closer are one */
#define FEWEST_FOR_SCALE 50 /* calls of a mode that tell how it thins out */

/* A histogram over equal steps of ln(duration + 1). */
struct density {
    double begin, step;
    uint32_t n;
    double *count, *smooth; /* [n] */
};

#define STEP (1.0 / 64)

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
}

static void density_release(struct density *d)
{
    free(d->count);
    free(d->smooth);
}

/* Value of the step that a share q of the counts in first..last is below. */
static double quantile(const struct density *d, uint32_t first, uint32_t last, double total,
                       double q)
{
    double below = 0;

    for (uint32_t i = first; i <= last; i++) {
        if (d->count[i] > 0 && below + d->count[i] >= q * total)
            return d->begin + STEP * (i + (q * total - below) / d->count[i]);
        below += d->count[i];
    }
    return d->begin + STEP * (last + 1);
}

/* A box as wide as the spread and the number of calls allow (Silverman's rule). */
static uint32_t bandwidth(const struct density *d, double n)
{
    double spread = quantile(d, 0, d->n - 1, n, 0.75) - quantile(d, 0, d->n - 1, n, 0.25);
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

    return (x < y) - (x > y);
}

/* The density below which the thinnest thousandth of the calls is. */
static double core_density(const struct density *d, double n)
{
    double(*step)[2] = mem_alloc(d->n, sizeof *step), sum = 0, least = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        step[i][0] = d->smooth[i];
        step[i][1] = d->count[i];
    }
    qsort(step, d->n, sizeof *step, by_density_down);
    for (uint32_t i = 0; i < d->n && sum < CORE * n; i++) {
        sum += step[i][1];
        if (step[i][1] > 0)
            least = step[i][0];
    }
    free(step);
    return least;
}

/* ---------------------------------------------------------------------------------- modes */

/* Value of a mode that a share of its calls is beyond, on one side. */
static double beyond_share(const struct density *d, uint32_t first, uint32_t last, double total,
                           double share, bool is_high)
{
    return quantile(d, first, last, total, is_high ? 1 - share : share);
}

/*
 * One side of a mode: the edge, and how it thins out beyond. The rate is seen in two stretches
 * inside; where it rises towards the edge, as that of a normal distribution does, it will rise
 * beyond it too, though we count on half of that only.
 */
static struct call_tail tail_of(const struct density *d, uint32_t first, uint32_t last,
                                double total, double n, bool is_high)
{
    double edge = fmin(fmax(EDGE, EDGE_CALLS / total), MIDDLE / 2);
    double inner = beyond_share(d, first, last, total, INNER, is_high);
    double middle = beyond_share(d, first, last, total, MIDDLE, is_high);
    struct call_tail tail = {.edge = beyond_share(d, first, last, total, edge, is_high),
                             .share = edge * total / n};
    double near = fabs(middle - inner) / log(INNER / MIDDLE);
    double far = fabs(tail.edge - middle) / log(MIDDLE / edge);

    tail.scale = near > far ? far * sqrt(fmax(far / near, 0.25)) : far;
    if (total < FEWEST_FOR_SCALE)
        tail.scale = fmax(tail.scale, fabs(middle - inner));
    tail.scale = fmax(tail.scale, LEAST_SCALE);
    return tail;
}

static void add_mode(struct call_model *m, const struct density *d, uint32_t first,
                     uint32_t last)
{
    double total = 0;

    for (uint32_t i = first; i <= last; i++)
        total += d->count[i];
    if (total < fmax(LEAST_MODE * (double)m->n, fmin(LEAST_MODE_CALLS, (double)m->n / 4)))
        return;
    if (m->n_modes == CALL_DETECTOR_MOST_MODES) /* so many: one wide mode is all that is said */
        m->mode[--m->n_modes].high = tail_of(d, first, last, total, (double)m->n, true);
    else
        m->mode[m->n_modes] =
            (struct call_mode){tail_of(d, first, last, total, (double)m->n, false),
                               tail_of(d, first, last, total, (double)m->n, true)};
    m->n_modes++;
}

static void find_modes(struct call_model *m, const struct density *d)
{
    double least = core_density(d, (double)m->n);
    uint32_t first = 0, last = 0;
    bool is_open = false;

    for (uint32_t i = 0; i < d->n; i++) {
        if (d->smooth[i] < least || d->count[i] == 0)
            continue;
        if (is_open && (i - last) * STEP > GAP) {
            add_mode(m, d, first, last);
            is_open = false;
        }
        if (!is_open)
            first = i;
        is_open = true;
        last = i;
    }
    if (is_open)
        add_mode(m, d, first, last);
}

void call_model_fit(struct call_model *m, const struct sketch *s)
{
    struct density d;

    *m = (struct call_model){.n = s->n,
                             .mean = sketch_mean(s),
                             .deviation = sketch_deviation(s),
                             .median = sketch_quantile(s, 0.5)};
    density_init(&d, s);
    smooth(&d, bandwidth(&d, (double)s->n));
    find_modes(m, &d);
    density_release(&d);
}
