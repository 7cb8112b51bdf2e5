/* sample_summary -- the summary of a trace said in one line, for tests. */
#ifndef SNAG_TESTS_SAMPLE_SUMMARY_H
#define SNAG_TESTS_SAMPLE_SUMMARY_H

#include "compare/summary.h"

/* sample_summary -- of the executions of function `foi`; release it. */
void sample_summary(const char *program, const char *foi, struct summary *out);

#endif
