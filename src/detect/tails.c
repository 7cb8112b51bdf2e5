/* A sorted copy; ties share a rank. */
#include "detect/tails.h"

#include "base/mem.h"
#include "base/radix.h"
#include "base/search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double tail_rank(const struct tail *tail, double value)
{
    size_t n_above = tail->n - lower_bound_f64(tail->sorted, tail->n, value);

    if (n_above == 0)
        return log((double)tail->n) + (value - tail->sorted[tail->n - 1]) / tail->slope;
    return -log((double)n_above / (double)tail->n);
}

double tail_model_at(const struct tail *tail, double value, double rank)
{
    return value >= tail->anchor ? tail->at_anchor + (value - tail->anchor) / tail->slope
                                 : rank;
}

size_t tail_leave_out(const struct tail *tail, double share, double most_share, double gap)
{
    size_t n = tail->n, n_out = (size_t)fmax(ceil(share * (double)n), 1);
    size_t most = (size_t)(most_share * (double)n);

    for (size_t k = most; k > n_out && k < n; k--)
        if (tail->sorted[n - k] - tail->sorted[n - k - 1] >= gap)
            return k;
    return n_out < n ? n_out : n - 1;
}

double tail_quantile(const struct tail *tail, double q)
{
    double at = q * (double)(tail->n - 1), here;
    size_t i = (size_t)at;

    here = tail->sorted[i];
    return i + 1 < tail->n ? here + (at - (double)i) * (tail->sorted[i + 1] - here) : here;
}

double tail_share(size_t n)
{
    return fmin(fmax(0.05, 2.0 / (double)n), 0.5);
}

/* Value per nat: the steepest of what neighbouring quantiles say, and at least `least`. */
static double slope_of(const struct tail *tail, double least)
{
    static const double share[] = {0.5, 0.2, 0.1, 0.05};
    double slope = least, before = 0;

    for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
        double here;

        if (share[i] < 2.0 / (double)tail->n)
            break;
        here = tail_quantile(tail, 1 - share[i]);
        if (i > 0)
            slope = fmax(slope, (here - before) / log(share[i - 1] / share[i]));
        before = here;
    }
    return slope;
}

/* The exponential begins at the smallest value that is in the tail. */
static void find_anchor(struct tail *tail)
{
    double begin = -log(tail_share(tail->n)) - 1e-9;

    tail->anchor = INFINITY;
    for (size_t i = tail->n; i-- > 0;) {
        double rank = tail_rank(tail, tail->sorted[i]);

        if (rank < begin)
            break;
        tail->anchor = tail->sorted[i];
        tail->at_anchor = rank;
    }
}

void tail_fit(struct tail *tail, const double *x, size_t n, double least)
{
    uint64_t *scratch = mem_resize(NULL, n, 2 * sizeof *scratch);

    *tail = (struct tail){.sorted = mem_resize(NULL, n, sizeof *x), .n = n};
    memcpy(tail->sorted, x, n * sizeof *x);
    radix_sort_f64(tail->sorted, scratch, n);
    free(scratch);
    tail->slope = slope_of(tail, least);
    find_anchor(tail);
}

void tail_release(struct tail *tail)
{
    free(tail->sorted);
    *tail = (struct tail){0};
}

void tail_ranks(const double *x, size_t n, double *out)
{
    struct tail tail;

    if (n == 0)
        return;
    tail_fit(&tail, x, n, 1);
    for (size_t i = 0; i < n; i++)
        out[i] = tail_rank(&tail, x[i]);
    tail_release(&tail);
}

void tail_pack(const struct tail *tail, struct pack *pack)
{
    pack_f64(pack, tail->slope);
    pack_array(pack, tail->sorted, tail->n, sizeof *tail->sorted);
}

void tail_unpack(struct tail *tail, struct pack *pack)
{
    *tail = (struct tail){.slope = unpack_f64(pack)};
    tail->n = unpack_count(pack, sizeof *tail->sorted);
    tail->sorted = unpack_array(pack, tail->n, sizeof *tail->sorted);
    pack->is_bad |= tail->n == 0 || !(tail->slope > 0);
    for (size_t i = 0; i < tail->n; i++)
        pack->is_bad |=
            !isfinite(tail->sorted[i]) || (i > 0 && tail->sorted[i] < tail->sorted[i - 1]);
    if (!pack->is_bad)
        find_anchor(tail);
}

#define REACH_SHARE 0.05 /* of the values are in the tail */
#define MIN_BELOW 20u    /* spacings that a rate is taken from, where there are so many */
#define REACH_GAP 10.0   /* nats: no gap of a tail is so wide by chance */
#define ANCHOR_STEP 1.2  /* from an anchor to the next, in values above */

/* Spacings as they would be in the middle of a tail: each times the values that are above it.
 */
struct spacings {
    const double *sorted;
    double *sum; /* [n] of the first k, from the largest value on */
    size_t n;
    double least;
};

static double spacing(const struct spacings *s, size_t n_above)
{
    return (s->sorted[s->n - n_above] - s->sorted[s->n - n_above - 1]) * (double)n_above;
}

/* From what is below the n_above largest. */
static struct tail_anchor anchor_below(const struct spacings *s, size_t n_above)
{
    size_t m = n_above > MIN_BELOW ? n_above : MIN_BELOW, end = n_above + m;

    end = end < s->n - 1 ? end : s->n - 1;
    m = end > n_above ? end - n_above : 0;
    return (struct tail_anchor){
        .value = s->sorted[s->n - n_above - 1],
        .rank = -log((double)n_above / (double)s->n),
        .slope = m ? fmax((s->sum[end] - s->sum[n_above]) / (double)m, s->least) : s->least,
        .n_below = (double)m};
}

/* How many are above the outermost gap below `n_above` values that chance does not make, within
 * a step; 0: there is none. */
static size_t gap_within(const struct spacings *s, size_t n_above, size_t next)
{
    for (size_t k = n_above; k > next; k--)
        if (spacing(s, k) > REACH_GAP * anchor_below(s, k).slope)
            return k;
    return 0;
}

void tail_reach_fit(struct tail_reach *reach, const double *sorted, size_t n, double least)
{
    struct spacings s = {sorted, mem_resize(NULL, n, sizeof *s.sum), n, least};
    size_t n_above = (size_t)fmax(REACH_SHARE * (double)n, 1);

    *reach = (struct tail_reach){.n = n};
    s.sum[0] = 0;
    for (size_t k = 1; k < n; k++)
        s.sum[k] = s.sum[k - 1] + spacing(&s, k);
    while (n > 1 && n_above > 0 && reach->n_anchors < TAIL_MAX_ANCHORS - 1) {
        size_t next = (size_t)((double)n_above / ANCHOR_STEP), gap;

        next = next < n_above ? next : n_above - 1;
        reach->anchor[reach->n_anchors++] = anchor_below(&s, n_above);
        gap = gap_within(&s, n_above, next);
        if (gap > 0 && gap < n_above)
            reach->anchor[reach->n_anchors++] = anchor_below(&s, gap);
        if (gap > 0)
            break;
        n_above = next;
    }
    free(s.sum);
}

double tail_nats(double nats, double m)
{
    return m > 0 ? m * log1p(nats / m) : 0;
}

double tail_reach_at(const struct tail_reach *reach, double value, double rank)
{
    double least = INFINITY;

    rank = fmin(rank, log((double)reach->n));
    for (uint32_t i = 0; i < reach->n_anchors; i++) {
        const struct tail_anchor *a = &reach->anchor[i];
        double nats = (value - a->value) / a->slope;

        if (value <= a->value) { /* and so below all that follow */
            least = fmin(least, rank);
            break;
        }
        least = fmin(least, a->rank + tail_nats(nats, a->n_below));
    }
    return fmin(least, INFINITY) == INFINITY ? rank : least;
}

/*
 * -ln P(Gamma(m) > x), m whole: e^-x times the first m terms of e^x, summed from the last,
 * which is the largest where x > m. Elsewhere 1 less e^-x times the terms that follow, which
 * shrink.
 */
double tail_together(uint32_t m, double x)
{
    double log_last = 0, sum = 1, term = 1;

    for (uint32_t k = 1; k < m; k++)
        log_last += log(x / k);
    if (x <= m) {
        for (double k = m + 1.0; term > DBL_EPSILON * sum; k++)
            sum += term *= x / k;
        return -log1p(-exp(log_last + log(x / m) - x) * sum);
    }
    for (uint32_t k = m - 1; k > 0; k--)
        sum += term *= k / x;
    return x - log_last - log(sum);
}
