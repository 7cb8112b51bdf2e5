/*
 * fuzz_analyse -- a run made from a trace in this process. snag analyze reads in a child, and
 * libFuzzer takes the end of a child for a finding.
 */
#ifndef SNAG_TESTS_FUZZ_ANALYSE_H
#define SNAG_TESTS_FUZZ_ANALYSE_H

struct pool;

/* Makes the run directory `run` of `trace` with the function of interest `foi`, or aborts. */
void fuzz_analyse(const char *trace, const char *foi, const char *run, struct pool *pool);

#endif
