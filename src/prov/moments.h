/*
 * moments -- of numbers that come one by one or are merged, and statistics as a store has them.
 *
 * Source: Pebay: Formulas for Robust, One-Pass Parallel Computation of Covariances and
 * Arbitrary-Order Statistical Moments. Sandia, SAND2008-6212, section 2.
 */
#ifndef SNAG_PROV_MOMENTS_H
#define SNAG_PROV_MOMENTS_H

#include "prov/prov_store.h"

#include <stdint.h>

#include <jansson.h>

#define PROV_MAX_STATS 0x1p53 /* numbers that statistics may be of */

struct moments {
    uint64_t n;
    double min, max, sum, mean, m2, m3, m4; /* m: sums of powers of distances from the mean */
};

/* moments_add -- one number. O(1). Equations 2.1 to 2.4 for one value. */
void moments_add(struct moments *moments, double x);

/* moments_merge -- those of all numbers of both. O(1). */
void moments_merge(struct moments *into, const struct moments *from);

/* moments_stats -- as Chimbuko has them: n - 1 below the deviation, 3 less than the kurtosis.
 */
struct prov_stats moments_stats(const struct moments *moments);

/* moments_of -- what moments_stats was of. */
struct moments moments_of(const struct prov_stats *stats);

/* prov_stats_text -- as JSON; what is not finite is null. free() it. */
char *prov_stats_text(const struct prov_stats *stats);

/* prov_stats_read -- back from JSON; 0 for what it does not say, or a count beyond the most.
 *   json  anything, or NULL */
struct prov_stats prov_stats_read(const json_t *json);

#endif
