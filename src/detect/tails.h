/*
 * tails -- how far out in the upper tail of its distribution a value is, in nats.
 *
 * Terms with different units cannot be added; tail probabilities can be compared. tail_rank is
 * empirical: -ln of the share of values as large or larger, at most ln n. tail_model goes on
 * beyond that: from the value where the upper twentieth begins, the tail is taken to fall off
 * exponentially, at the rate that the quantiles below show, which anomalies do not set.
 */
#ifndef SNAG_DETECT_TAILS_H
#define SNAG_DETECT_TAILS_H

#include <stddef.h>

/* tail_rank -- out[i] = -ln(#{j: x[j] >= x[i]} / n). O(n log n). */
void tail_rank(const double *x, size_t n, double *out);

/*
 * tail_model -- see above.
 *   rank   (n) tail_rank of x
 *   least  the tail falls off by at most one nat per this
 */
void tail_model(const double *x, const double *rank, size_t n, double least, double *out);

/* tail_share -- the share of the values that counts as the tail: a twentieth, or a few values.
 */
double tail_share(size_t n);

#endif
