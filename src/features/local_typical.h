/*
 * local_typical -- what is typical on one rank, where that is not what is typical elsewhere.
 *
 * Ranks have different shares of the work: what is constant for a place is no excess of an
 * execution there. Where a call path is in enough executions of a location, and the time they
 * spend on it is further from that of all than it is wide there, it has a factor of its own:
 * so many times what calls of its contexts take everywhere (residual.h) is typical there.
 * Locations are told by rank and thread, so what was learnt of one run holds in the next.
 */
#ifndef SNAG_FEATURES_LOCAL_TYPICAL_H
#define SNAG_FEATURES_LOCAL_TYPICAL_H

#include "base/idmap.h"
#include "base/pack.h"
#include "features/robust.h"
#include "forest/forest.h"
#include "forest/tree_share.h"

#include <stddef.h>
#include <stdint.h>

#define LOCAL_NONE UINT32_MAX
#define LOCAL_MIN_EXECUTIONS 30 /* executions on a location, to know what is typical there */

struct local_typical {
    struct idmap site;    /* key_pair(0, place of forest.h) of all locations with executions */
    struct spread *whole; /* [site.n] of log_ratio of all that executions there spend */
    struct idmap at;      /* key_pair(site, path) */
    double *log_factor;   /* [at.n] */
    double *factor;       /* [at.n] its exponential */
};

void local_typical_release(struct local_typical *local);

/*
 * local_typical_sites -- learn the locations of a forest, with a share of those of all.
 *   defs   of the locations; only with a share
 * O(trees).
 */
void local_typical_sites(struct local_typical *local, const struct forest *forest,
                         const struct definitions *defs, const struct tree_share *share);

/* local_typical_site -- the number of the location of tree t, or LOCAL_NONE. */
uint32_t local_typical_site(const struct local_typical *local, const struct forest *forest,
                            uint32_t t);

/* local_typical_site_at -- of a place (forest_place), or LOCAL_NONE. */
uint32_t local_typical_site_at(const struct local_typical *local, uint64_t place);

/* The time that a tree spends on a path. */
struct local_time {
    uint32_t site, path;
    double log_ratio; /* of it to what is typical everywhere */
};

/*
 * local_typical_wholes -- learn how much longer executions are than their calls together, and
 * how far that varies (robust_for_one_more).
 *   log_ratio  (trees) of the time of an execution to what is typical of its calls
 *   overall    of these: what holds where there are too few executions
 *   least      no location is less wide than this
 * Sums of medians are no medians of sums. After local_typical_sites; with a share all learn it.
 * O(trees).
 */
void local_typical_wholes(struct local_typical *local, const struct forest *forest,
                          const struct tree_share *share, const double *log_ratio,
                          struct spread overall, double least);

/*
 * local_typical_fit -- learn which paths have a factor of their own where.
 *   time        (n) each pair of a tree and a path once
 *   everywhere  [paths] spread of log_ratio at all locations; scale 0: unknown
 *   least       no location is less wide than this
 *   pool        may be NULL
 * O(n).
 */
void local_typical_fit(struct local_typical *local, const struct local_time *time, size_t n,
                       const struct spread *everywhere, double least, struct pool *pool);

/* local_typical_unite -- after local_typical_fit of the own locations: all processes have the
 * factors of all. Nothing without a share. */
void local_typical_unite(struct local_typical *local, const struct tree_share *share);

/* local_typical_find -- the number of a path at a site in log_factor, or LOCAL_NONE. */
uint32_t local_typical_find(const struct local_typical *local, uint32_t site, uint32_t path);

/* local_typical_pack, local_typical_unpack -- as those of residual.h; paths must be below
 * n_paths.
 */
void local_typical_pack(const struct local_typical *local, struct pack *pack);
void local_typical_unpack(struct local_typical *local, struct pack *pack, uint32_t n_paths);

#endif
