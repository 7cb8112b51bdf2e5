/*
 * digest_pack -- a digest as bytes, for what is kept of a run when its trace is gone.
 *
 * Times are whole nanoseconds, most of them few: as varints, compressed, a run of a hundred
 * call paths takes some ten kilobytes. What comes out is what went in.
 */
#ifndef SNAG_COMPARE_DIGEST_PACK_H
#define SNAG_COMPARE_DIGEST_PACK_H

#include "base/pack.h"
#include "compare/digest.h"

/* digest_pack -- append a digest. */
void digest_pack(struct pack *to, const struct digest *digest);

/*
 * digest_unpack -- the digest that a pack holds, all of it.
 *   digest  out: release it in any case
 * Returns 0, or ERR_FORMAT for anything that no digest can be: numbers out of range, paths that
 * are no tree, more than there is.
 */
int digest_unpack(struct digest *digest, struct pack *from);

#endif
