/*
 * tails -- how far out in the upper tail of a distribution a value is, in nats.
 *
 * Terms with different units cannot be added; tail probabilities can be compared. tail_rank is
 * empirical: -ln of the share of values as large or larger, at most ln n. tail_model_at goes on
 * beyond that: from the value where the upper twentieth begins, the tail is taken to fall off
 * exponentially, at the rate that the quantiles below show, which anomalies do not set.
 *
 * The distribution is that of the values a tail was fitted to; values that were not among them
 * can be asked about too.
 */
#ifndef SNAG_DETECT_TAILS_H
#define SNAG_DETECT_TAILS_H

#include "base/pack.h"

#include <stddef.h>
#include <stdint.h>

struct tail {
    double *sorted; /* [n] ascending */
    size_t n;
    double slope;             /* value per nat beyond the anchor */
    double anchor, at_anchor; /* where the exponential begins, and its tail_rank */
};

/*
 * tail_fit -- learn a distribution. Release in any case.
 *   x      (n) finite, n >= 1
 *   least  the tail falls off by at most one nat per this
 * O(n).
 */
void tail_fit(struct tail *tail, const double *x, size_t n, double least);
void tail_release(struct tail *tail);

/*
 * tail_rank -- -ln(#{j: x[j] >= value} / n): at most ln n, but for values beyond the largest,
 * which count as much more as they are further out, by the slope. O(log n).
 */
double tail_rank(const struct tail *tail, double value);

/*
 * tail_model_at -- see above.
 *   rank  tail_rank of the value
 */
double tail_model_at(const struct tail *tail, double value, double rank);

/*
 * tail_leave_out -- how many of the highest values may be what is to be found: so many that the
 * rest says nothing of them.
 *   share       0..1, left out in any case, and at least one value
 *   most_share  up to so many are left out where a gap is below them
 *   gap         that no value of such a tail could have below it by chance
 * Returns less than n. O(n).
 */
size_t tail_leave_out(const struct tail *tail, double share, double most_share, double gap);

/* tail_quantile -- quantile q of the values, 0..1, linear between them. */
double tail_quantile(const struct tail *tail, double q);

/* tail_share -- the share of n values that counts as the tail: a twentieth, or a few values. */
double tail_share(size_t n);

/* tail_ranks -- tail_rank of n values among themselves. O(n log n). */
void tail_ranks(const double *x, size_t n, double *out);

/*
 * tail_together -- how unlikely m independent observations are together, each of which has a
 * tail_rank, or any other -ln p, and sum is their sum: -ln P(Gamma(m) > sum), nats; m >= 1.
 * Source: Fisher's method. O(m).
 */
double tail_together(uint32_t m, double sum);

/*
 * How far the upper tail of a distribution may be gone on with: from each of some values
 * outward, the rest of the tail is taken for an exponential one at the rate of what is next
 * below that value, which is known from so many spacings. A tail that is heavier further out
 * has more to say further out, so the most cautious of these counts. Values with a gap below
 * them that no such tail has are what is asked about, and are not asked.
 */
#define TAIL_MAX_ANCHORS 64

struct tail_reach {
    size_t n; /* values it was made from */
    uint32_t n_anchors;
    struct tail_anchor {
        double value, rank; /* nats of what is above it */
        double slope;       /* value per nat, of n_below spacings of what is next below */
        double n_below;     /* 0: no more is known than the rank */
    } anchor[TAIL_MAX_ANCHORS];
};

/*
 * tail_reach_fit -- learn how far a tail reaches.
 *   sorted  (n) ascending
 *   least   the tail falls off by at most one nat per this
 * O(n).
 */
void tail_reach_fit(struct tail_reach *reach, const double *sorted, size_t n, double least);

/*
 * tail_reach_at -- how improbable a value is by chance, -ln p, as far as the tail reaches.
 *   rank  tail_rank of the value
 * With the rate of decay estimated from m spacings, an exponential tail goes on as (1 + x /
 * m)^-m (x: distance in nats): what is known from few values says little far out. O(anchors).
 */
double tail_reach_at(const struct tail_reach *reach, double value, double rank);

/* tail_nats -- what a distance of so many nats says where the rate of decay is known from m values;
 * m 0: nothing. */
double tail_nats(double nats, double m);

/* tail_pack, tail_unpack -- to bytes and back; the pack is bad when it makes no sense. */
void tail_pack(const struct tail *tail, struct pack *pack);
void tail_unpack(struct tail *tail, struct pack *pack);

#endif
