/*
 * rbf_cache -- rows of a kernel matrix, computed when asked for and kept while there is room.
 */
#ifndef SNAG_DETECT_RBF_CACHE_H
#define SNAG_DETECT_RBF_CACHE_H

#include "detect/rbf.h"

struct rbf_cache;

/*
 * rbf_cache_new -- an empty cache.
 *   rbf       lives as long as the cache
 *   bytes     room for rows; there are always at least least_rows of them
 */
struct rbf_cache *rbf_cache_new(const struct rbf *rbf, size_t bytes, size_t least_rows);

/* rbf_cache_free -- NULL is harmless. */
void rbf_cache_free(struct rbf_cache *cache);

/* rbf_cache_room -- rows it can hold at once. */
size_t rbf_cache_room(const struct rbf_cache *cache);

/*
 * rbf_cache_fetch -- rows of the kernel matrix; those that are missing in one go.
 *   which  [n] different points, n <= rbf_cache_room()
 *   row    [n] out, each [points]; they stay until the next fetch
 */
void rbf_cache_fetch(struct rbf_cache *cache, const uint32_t *which, size_t n,
                     const float **row);

/* rbf_cache_computed -- rows computed so far, for measuring. */
size_t rbf_cache_computed(const struct rbf_cache *cache);

#endif
