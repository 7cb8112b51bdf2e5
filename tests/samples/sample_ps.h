/* sample_ps -- for tests and benchmarks: a store or a server, spoken to with whole frames. */
#ifndef SNAG_TESTS_SAMPLE_PS_H
#define SNAG_TESTS_SAMPLE_PS_H

#include "base/rng.h"
#include "ps/ps_store.h"

/* sample_calls -- a sketch of n calls that take about mean_ns. */
void sample_calls(struct sketch *sketch, struct rng *rng, uint32_t n, double mean_ns);

/* sample_name -- "f00", "f01", ... */
const char *sample_name(uint32_t i, char name[16]);

/* sample_push -- a whole push of functions "prog", "f00".. with these sketches, empty ones too,
 * named, and without statistics. */
void sample_push(struct pack *out, const struct ps_push *push, const struct sketch *sketch);

/* sample_same -- the same n, sums, bins, everything. */
bool sample_same(const struct sketch *a, const struct sketch *b);

#endif
