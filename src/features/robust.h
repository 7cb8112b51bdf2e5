/*
 * robust -- centre and width of a distribution that anomalies cannot move; also of values that
 * several processes have, brought together (partition) or not (joint_spreads).
 *
 * The width is an upper one: the widest of what MAD, the 84th and the 95th percentile say about
 * the half above the median. So a distribution that has a heavy tail by nature is wide, and
 * what is in its tail is not strange.
 */
#ifndef SNAG_FEATURES_ROBUST_H
#define SNAG_FEATURES_ROBUST_H

#include "base/paged.h"
#include "base/pool.h"
#include "forest/tree_share.h"

#include <stddef.h>
#include <stdint.h>

/*
 * partition -- values in groups, each of which one process gets together from all.
 *
 * Median and width of a group need all its values, but of one group after the other; so groups
 * are dealt to processes, and every process sends each value to the owner of its group. What
 * the owner then finds by selection or sorting is what one process with all values finds, to
 * the bit, as it does not depend on the order in which they come. A value is sent once, or not
 * at all.
 *
 *     partition_init(&d, share, n_groups, order, owner);
 *     ... the own values, by group, in the order of d.order
 *     value = partition_exchange(&d, value, count, begin);   those of the own groups, of all
 *     ... result[g] of the own groups, d.order[d.first[d.me]] ..
 *     partition_tell(&d, result, sizeof *result);            everybody has all results
 *
 * Without a share one process owns all groups, and nothing moves.
 */
struct partition {
    const struct tree_share *share; /* may be NULL */
    unsigned me;
    uint32_t n_groups;
    uint32_t *order;     /* [n_groups] of groups: those of process 0, then those of 1, ... */
    uint32_t *first;     /* [processes + 1] where those of each begin there */
    size_t width;        /* bytes of a value */
    struct paged *paged; /* of the values; may be NULL */
};

/*
 * partition_init -- width and paged are the caller's to set.
 *   order  (n_groups) in which those of a process are to be; NULL: ascending
 *   owner  (n_groups) process of each, the same on all; NULL: process 0 owns all
 */
void partition_init(struct partition *d, const struct tree_share *share, uint32_t n_groups,
                    const uint32_t *order, const unsigned *owner);
void partition_release(struct partition *d);

/*
 * partition_exchange -- all must call it.
 *   value  of paged_alloc: the own values, one group after the other as in d->order; it is
 *          given away
 *   count  (n_groups) by group: own values; out, of the own groups: values of all
 *   begin  (n_groups) out, of the own groups: where each is in what is returned
 * Returns the values of the own groups, for paged_release. Needs the own values, those of the
 * own groups, and those that one other process sends, at once.
 */
void *partition_exchange(const struct partition *d, void *value, uint32_t *count,
                         size_t *begin);

/* partition_tell -- an array by group is complete everywhere when the owners have set theirs.
 * */
void partition_tell(const struct partition *d, void *by_group, size_t width);

/*
 * partition_balance -- owners, so that each has about as much to do.
 *   work   (n) of each group
 *   order  (n) of groups, those with most work first
 * Returns (n) to be freed.
 */
unsigned *partition_balance(const struct tree_share *share, const uint32_t *work,
                            const uint32_t *order, uint32_t n);

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

#define ROBUST_FEW 10 /* values; between the two in the middle of fewer nothing is typical */

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
    const struct partition
        *deal; /* NULL, or: other processes have items of these groups, too */
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

/*
 * joint_spread -- centre and width of values of which several processes have some each, without
 * bringing them together: where one group is most of all values, nobody need have all of them.
 *
 * Each process has its own values in ascending order. The k-th smallest of all is found four
 * bits at a time: for what is known of its bits each process says how many of its values have
 * each of the 16 continuations, the sums say which one has the k-th. After 16 rounds it is
 * known to the bit; so what is said is what robust_spread says of all values, to the bit.
 *
 *     6, 7, 9 | 6, 8      k = 3, bits 0110 0111 1001 | 0110 1000
 *     next two bits       01: 2 + 1    10: 1 + 1    so it begins with 10, and is number 0 there
 *     last two bits       00: 0 + 1    01: 1 + 0    8
 */

/* The values of one group that this process has: x = ln(time + offset). */
struct joint_part {
    struct sorted_times times; /* n may be 0 here, but not everywhere */
    double offset_ns;
};

/*
 * joint_spreads -- of n groups, what robust_log_times would say of the times of all processes.
 *   share   all its processes call it, with the same groups
 *   least   the width is at least this, > 0
 *   spread  (n) out, the same everywhere
 * Sends 2 (processes - 1) messages in each of 33 rounds, 1 kB a group and process in all but
 * one. O(n log(times)).
 */
void joint_spreads(const struct tree_share *share, const struct joint_part *part, uint32_t n,
                   double least, struct spread *spread);

#endif
