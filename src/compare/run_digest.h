/* run_digest -- the digest of a function of interest of a finished run. */
#ifndef SNAG_COMPARE_RUN_DIGEST_H
#define SNAG_COMPARE_RUN_DIGEST_H

#include "base/crew.h"
#include "compare/digest.h"
#include "run/rundir.h"

/*
 * run_digest_load -- read the executions of FOI `foi` of a run, and digest them.
 *   crew  NULL, or: all processes call it, each reads those of its own locations, and all get
 *         the digest of all
 *   rc    0, or what went wrong before on this process: with a crew all learn of it
 * Returns 0, rc, an error as run_scoring_collect, or one of another process. Release it in any
 * case. O(calls).
 */
int run_digest_load(struct digest *digest, const struct run *run, int64_t foi,
                    struct crew *crew, int rc);

#endif
