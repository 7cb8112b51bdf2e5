/* sample_record -- records as a live system would make them, for tests and benchmarks. */
#ifndef SNAG_TESTS_SAMPLE_RECORD_H
#define SNAG_TESTS_SAMPLE_RECORD_H

#include "prov/prov_record.h"

/*
 * sample_record -- record number i on some rank: a call 4 to 9 deep with five calls before and
 * after it, the messages in them, what it waited for on another rank, now and then counters,
 * the state of its node and a GPU. The same for the same numbers. Names as TAU has them.
 */
void sample_record(uint32_t rank, uint64_t i, struct arena *arena, struct prov_record *record);

#endif
