/*
 * foi -- which functions are of interest: what a person named, or what we would suggest.
 *
 * A good function of interest covers much of the run, is executed many times on every rank, and
 * has calls inside it: then its executions can be compared, and a slow one explained.
 */
#ifndef SNAG_FOREST_FOI_H
#define SNAG_FOREST_FOI_H

#include "forest/profile.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_FOIS 16 /* functions of interest of one analysis */
#define FOI_WHY_SIZE 256

/*
 * foi_match -- the regions a person means by a pattern.
 *   pattern   an exact name, a short name or its last part; else a part of a name; or /regex/
 *   region    (MAX_FOIS) out: the called regions it matches, most time first
 *   n         out: how many, >= 1
 * Returns 0, ERR_NOT_FOUND that says which names are near, or ERR_USAGE for a bad regex or more
 * than MAX_FOIS matches.
 */
int foi_match(const char *pattern, const struct definitions *defs,
              const struct profile *profile, uint32_t *region, size_t *n);

/* foi_is_loop -- whether a pattern is about loops alone: "loop", the best one, or loop@... */
bool foi_is_loop(const char *pattern);

/*
 * foi_tier -- how good the best match of a pattern is: 0 for an exact name or a regex, more for
 * worse ones, FOI_NO_MATCH for none.
 *   profile  which functions count: those that are called; NULL: all that are defined
 */
#define FOI_NO_MATCH 6
int foi_tier(const char *pattern, const struct definitions *defs,
             const struct profile *profile);

struct foi_suggestion {
    uint32_t region;
    double merit;           /* 0..1, for ordering */
    char why[FOI_WHY_SIZE]; /* one sentence */
};

/*
 * foi_suggest -- regions that would make good functions of interest, best first.
 *   total_ns  time of all roots of all locations
 *   out       (most) filled in
 * Returns how many, 0 only when nothing was called at all.
 */
size_t foi_suggest(const struct definitions *defs, const struct profile *profile,
                   uint64_t total_ns, struct foi_suggestion *out, size_t most);

#endif
