/* run_digest -- the digest of a function of interest of a finished run. */
#ifndef SNAG_ANALYSIS_RUN_DIGEST_H
#define SNAG_ANALYSIS_RUN_DIGEST_H

#include "analysis/digest.h"
#include "run/rundir.h"

/*
 * run_digest_load -- read the executions of FOI `foi` of a run, and digest them.
 * Returns 0, or an error as run_scoring_collect. Release it in any case. O(calls).
 */
int run_digest_load(struct digest *digest, const struct run *run, int64_t foi);

#endif
