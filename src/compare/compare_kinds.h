/*
 * compare_kinds -- kinds of execution, and how each changed.
 *
 * Kinds are told apart by whether they have this or that call path, those paths by which the
 * durations of executions differ most. So a change that makes one kind slower and another
 * faster is seen where the mean stays what it was.
 */
#ifndef SNAG_COMPARE_COMPARE_KINDS_H
#define SNAG_COMPARE_COMPARE_KINDS_H

#include "compare/alignment.h"

#include <stdbool.h>
#include <stdint.h>

#define KINDS_BY 2u                        /* paths at most that tell them apart */
#define COMPARE_MAX_KINDS (1u << KINDS_BY) /* kinds */

struct kinds {
    uint32_t n, n_paths, n_samples;
    double *sample_ns;                     /* [n x samples] duration of an execution of it */
    uint32_t in_sample[COMPARE_MAX_KINDS]; /* fewest executions in any sample */
    double *path_ns[2];                    /* [n x paths] on a path, of all executions */
    double share[2][COMPARE_MAX_KINDS];    /* of all executions */
    double off_ns[2][COMPARE_MAX_KINDS];   /* by which their time may be off */
};

/* kinds_find -- fills the kinds of a comparison in, but for what is measured of them. */
void kinds_find(struct kinds *kinds, const struct alignment *a, struct comparison *out);
void kinds_release(struct kinds *kinds);

/* kinds_are_sampled -- every sample has executions of the kind. */
bool kinds_are_sampled(const struct kinds *kinds, uint32_t kind);
const double *kinds_samples(const struct kinds *kinds, uint32_t kind);

/* kinds_explain -- which path changed most in each kind, in which kind each path did, and the
 * times behind that. */
void kinds_explain(const struct kinds *kinds, struct comparison *out);

#endif
