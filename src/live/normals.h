/*
 * normals -- calls that are not strange, to compare strange ones with.
 *
 * Of each step, location and function the call that took most nearly what is usual (the median)
 * is kept, if it is normal, in place of the one before. When a call of the function turns out
 * to be strange, that is given away, once; where there is none yet, as soon as there is one.
 *
 * Source: Chimbuko's ADNormalEventProvenance. Departs from it: nearest to the median rather
 * than lowest score, which a step's calls share by the thousand; a normal call of another
 * location is taken where the strange call's own has none.
 */
#ifndef SNAG_LIVE_NORMALS_H
#define SNAG_LIVE_NORMALS_H

#include "base/idmap.h"
#include "live/ad.h"
#include "live/history.h"

#include <stdbool.h>
#include <stdint.h>

#define MAX_NORMALS 8192u /* pairs of location and model */

struct normal {
    struct verdict call; /* without a judgement */
    struct prov_event event;
    struct entered entered;
    struct prov_call *stack; /* [n_stack] the call itself first */
    size_t n_stack, stack_cap;
    struct around around;
    bool is_given; /* away already */
};

/* The calls that one model judges, in one location and step. */
struct nearest_call {
    uint64_t median_ns, distance_ns;
    uint32_t row;
    uint32_t stamp; /* of the location and step this was last used for */
};

struct normals {
    bool is_inclusive;
    struct idmap pairs;    /* (location, model) */
    struct normal *normal; /* [pairs.n] */
    size_t cap;
    struct nearest_call *nearest; /* [n_models] */
    size_t nearest_cap;
    uint32_t n_models, stamp;
    uint32_t *touched; /* [n_touched] models of the location */
    size_t n_touched, touched_cap;
};

void normals_init(struct normals *normals, bool is_inclusive);
void normals_release(struct normals *normals);

/* normals_look -- at all calls of a step. O(calls). */
void normals_look(struct normals *normals, const struct histories *h,
                  const struct ad_step *step);

/*
 * normals_give -- a normal call of a function, best of this location; NULL if there is none
 * that was not given before. Valid until the next step. O(locations).
 */
const struct normal *normals_give(struct normals *normals, uint32_t n_locations,
                                  uint32_t location, uint32_t model);

#endif
