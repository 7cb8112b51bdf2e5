/*
 * live_paths -- call paths as small numbers: main, main/solve, main/solve/wait.
 *
 * Numbers are dense, in order of first appearance, the caller's before its callee's. Most calls
 * follow one of the same path, so each path remembers the callee it was asked for last.
 */
#ifndef SNAG_LIVE_LIVE_PATHS_H
#define SNAG_LIVE_LIVE_PATHS_H

#include "base/idmap.h"
#include "trace/definitions.h"

#define LIVE_MAX_PATHS                                                                         \
    200000u                /* then, calls on a new path are as if nobody had called them       \
                            */
#define NO_PATH UINT32_MAX /* the caller of what nobody calls */

struct live_path {
    uint32_t region, caller;
    uint32_t last_region, last_callee;
};

/* Zeroed, there are none. */
struct live_paths {
    struct live_path *path; /* [n] */
    uint32_t n;
    size_t cap;
    struct idmap id; /* of (caller, region) */
};

void live_paths_release(struct live_paths *paths);

/* live_paths_add -- the path of a call of region from caller. O(1). */
uint32_t live_paths_add(struct live_paths *paths, uint32_t caller, uint32_t region);

/* live_paths_name -- "main/solve/wait", for the caller to free. O(length). */
char *live_paths_name(const struct live_paths *paths, uint32_t path,
                      const struct definitions *defs);

/* live_paths_callee -- live_paths_add, quickly where it is the same callee as last time. */
static inline uint32_t live_paths_callee(struct live_paths *paths, uint32_t caller,
                                         uint32_t region)
{
    if (caller != NO_PATH && paths->path[caller].last_region == region)
        return paths->path[caller].last_callee;
    return live_paths_add(paths, caller, region);
}

#endif
