/*
 * prov_stats -- statistics as a store has them, which are Chimbuko's: from moments and back, and
 * as JSON.
 */
#ifndef SNAG_PROV_PROV_STATS_H
#define SNAG_PROV_PROV_STATS_H

#include "base/moments.h"
#include "prov/prov_store.h"

#include <stdint.h>

#include <jansson.h>

#define PROV_MAX_STATS 0x1p53 /* numbers that statistics may be of */

/* prov_stats_of -- as Chimbuko has them: n - 1 below the deviation, 3 less than the kurtosis.
 */
struct prov_stats prov_stats_of(const struct moments *moments);

/* prov_stats_moments -- what prov_stats_of was of. */
struct moments prov_stats_moments(const struct prov_stats *stats);

/* prov_stats_text -- as JSON; what is not finite is null. free() it. */
char *prov_stats_text(const struct prov_stats *stats);

/* prov_stats_read -- back from JSON; 0 for what it does not say, or a count beyond the most.
 *   json  anything, or NULL */
struct prov_stats prov_stats_read(const json_t *json);

#endif
