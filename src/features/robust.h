/*
 * robust -- centre and width of a distribution that anomalies cannot move.
 *
 * The width is an upper one: the widest of what MAD, the 84th and the 95th percentile say about
 * the half above the median. So a distribution that has a heavy tail by nature is wide, and
 * what is in its tail is not strange.
 */
#ifndef SNAG_FEATURES_ROBUST_H
#define SNAG_FEATURES_ROBUST_H

#include "base/pool.h"
#include "features/dealing.h"

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

#define ROBUST_FEW 10 /* values; between the two in the middle of fewer nothing is usual */

/*
 * robust_middle -- the q of robust_quantile that is the median: of few values it is one of
 * them, the lower of two.
 */
double robust_middle(size_t n);

/* robust_lower_middle -- of any number of values: one of them, of two in the middle the lower.
 */
double robust_lower_middle(size_t n);

/*
 * robust_median_off -- by how much the median of x may be off, either way, if each may be.
 *   off  (n) >= 0
 * O(n) on average, memory for n values.
 */
double robust_median_off(const double *x, const double *off, size_t n);

/*
 * robust_spread -- centre and upper width of x.
 *   x        (n) n >= 1; its order is changed
 *   scratch  (n)
 *   least    the width is at least this, > 0
 */
struct spread robust_spread(double *x, double *scratch, size_t n, double least);

/*
 * robust_for_one_more -- centre and width for a value that is not among them, whatever the
 * longest tenth of them are: these may be what is looked for. Of few values centre and width
 * are known badly, and one more looks further out than it is. Where they are a normal sample, a
 * value is further out than z widths as often as a normal variable is, at the z that one in
 * 5,000 is above; of 2 values it hardly ever is.
 */
struct spread robust_for_one_more(double *x, double *scratch, size_t n, double least);

#define ROBUST_P84 0.8413 /* a normal value is below one standard deviation so often */

/* robust_width -- the widest of what these quantiles and the median distance from the centre
 * say; at least `least`. */
double robust_width(double centre, double at84, double at95, double distance, double least);

/* Times in ascending order. */
struct sorted_times {
    const uint32_t *narrow_ns; /* [n] or NULL: */
    const uint64_t *wide_ns;   /* [n] where one does not fit 32 bits */
    size_t n;
};

/*
 * robust_log_times -- the same of x = ln(time + offset).
 *   times      n >= 1
 *   offset_ns  > 0
 * To the bit what robust_spread says of the x, as a logarithm keeps the order. O(log n).
 */
struct spread robust_log_times(const struct sorted_times *times, double offset_ns,
                               double least);

/* Values in groups. */
struct robust_items {
    size_t n;
    const uint32_t *group; /* [n] below n_groups */
    uint32_t n_groups;
    double (*value)(size_t i, const void *ctx); /* of item i; from any thread */
    const void *ctx;
    const struct dealing *deal; /* NULL, or: other processes have items of these groups, too */
};

/*
 * robust_groups -- robust_spread of every group.
 *   pool     may be NULL
 *   spread   (n_groups) out; of an empty group {0, least}
 *   count    (n_groups) out: members
 * With items of other processes all get what one with all items would find. O(n), memory for n
 * values.
 */
void robust_groups(const struct robust_items *items, double least, struct pool *pool,
                   struct spread *spread, uint32_t *count);

#endif
