/*
 * clock -- do the clocks of the ranks agree, and if not, by how much are they off?
 *
 * A message cannot arrive before it was sent, and nobody leaves a barrier before everybody has
 * entered. Each such pair bounds the difference of two clocks from one side:
 *
 *     begin on i  happens before  end on j:     begin_i + x_i <= end_j + x_j
 *
 * Where the raw times break none of these bounds, nothing is changed. Else the x are estimated:
 * for two ranks that bound each other, the middle of what is allowed, along the tree of those
 * pairs that are bounded most tightly; then the bounds that are still broken are enforced. When
 * no constant x can satisfy them, a constant drift is fitted first. Corrections that leave more
 * than a twentieth of the contradictions are not made: then something else is wrong.
 */
#ifndef SNAG_FOREST_CLOCK_H
#define SNAG_FOREST_CLOCK_H

#include "forest/traffic.h"
#include "trace/definitions.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is to be added to a rank's times. */
struct clock_fix {
    int64_t offset_ns;
    double drift; /* nanoseconds per nanosecond */
};

struct clock_report {
    size_t n_checked;      /* messages and collectives whose order says something */
    size_t n_wrong_before; /* of these, in the wrong order as recorded */
    size_t n_wrong_messages, n_wrong_collectives; /* and after the correction */
    int64_t worst_before_ns;                      /* by how much, at most */
    int64_t worst_ns;                             /* and after the correction */
    uint32_t n_shifted;                           /* ranks whose clock is corrected */
    bool has_drift;
};

/* clock_fixed -- a time of a rank, corrected. Keeps the order of times. */
static inline uint64_t clock_fixed(const struct clock_fix *fix, uint64_t time_ns)
{
    int64_t drifted = fix->drift != 0 ? llrint(fix->drift * (double)(int64_t)time_ns) : 0;

    return time_ns + (uint64_t)fix->offset_ns + (uint64_t)drifted;
}

/*
 * clock_estimate -- check the order of all traffic and estimate corrections where it is wrong.
 *   traffic  matched (traffic_match)
 *   fix      (defs->n_ranks) out: all zero when nothing needs to change
 *   report   out
 * Two runs over the traffic when all is well, some ten when it is not.
 */
void clock_estimate(const struct traffic *traffic, const struct definitions *defs,
                    struct clock_fix *fix, struct clock_report *report);

#endif
