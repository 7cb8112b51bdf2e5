/*
 * summary_pack -- a summary as bytes, for what is kept of a run when its trace is gone.
 *
 * Times are whole nanoseconds, most of them few: as varints, compressed, a run of a hundred
 * call paths takes some ten kilobytes. What comes out is what went in.
 */
#ifndef SNAG_COMPARE_DIGEST_PACK_H
#define SNAG_COMPARE_DIGEST_PACK_H

#include "base/pack.h"
#include "compare/summary.h"

/* summary_pack -- append a summary. */
void summary_pack(struct pack *to, const struct summary *summary);

/*
 * summary_unpack -- the summary that a pack holds, all of it.
 *   summary  out: release it in any case
 * Returns 0, or ERR_FORMAT for anything that no summary can be: numbers out of range, paths
 * that are no tree, more than there is.
 */
int summary_unpack(struct summary *summary, struct pack *from);

#endif
