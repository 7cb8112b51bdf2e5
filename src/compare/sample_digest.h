/* sample_digest -- the digest of a trace said in one line, for tests. */
#ifndef SNAG_COMPARE_SAMPLE_DIGEST_H
#define SNAG_COMPARE_SAMPLE_DIGEST_H

#include "compare/digest.h"

/* sample_digest -- of the executions of function `foi`; release it. */
void sample_digest(const char *program, const char *foi, struct digest *out);

#endif
