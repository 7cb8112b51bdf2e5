/*
 * robust -- centre and width of a distribution that anomalies cannot move.
 *
 * The width is an upper one: the widest of what MAD, the 84th and the 95th percentile say about
 * the half above the median. So a distribution that has a heavy tail by nature is wide, and
 * what is in its tail is not strange.
 */
#ifndef SNAG_FEATURES_ROBUST_H
#define SNAG_FEATURES_ROBUST_H

#include <stddef.h>
#include <stdint.h>

struct spread {
    double centre; /* median */
    double scale;  /* > 0; about the standard deviation if it were normal */
};

/*
 * robust_quantile -- quantile q of x, between order statistics linearly (type 7, as numpy's).
 *   x  (n) finite, n >= 1; its order is changed
 * O(n) on average.
 */
double robust_quantile(double *x, size_t n, double q);

/*
 * robust_spread -- centre and upper width of x.
 *   x        (n) n >= 1; its order is changed
 *   scratch  (n)
 *   least    the width is at least this, > 0
 */
struct spread robust_spread(double *x, double *scratch, size_t n, double least);

/*
 * robust_groups -- the same for every group of values.
 *   group    (n) below n_groups
 *   value    value(i, ctx) is the value of item i
 *   spread   (n_groups) out; of an empty group {0, least}
 *   count    (n_groups) out: members
 * O(n), memory for n values.
 */
void robust_groups(const uint32_t *group, uint32_t n_groups, size_t n,
                   double (*value)(size_t i, const void *ctx), const void *ctx, double least,
                   struct spread *spread, uint32_t *count);

#endif
