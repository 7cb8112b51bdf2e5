/*
 * sample_trace -- a small OTF2 archive with a bit of everything a tracer writes: four ranks
 * with region ids of their own (mapping tables) and clocks of their own (offsets), blocking and
 * non-blocking messages around a ring, collectives, nested calls, one slow call. Chunks are as
 * short as libotf2 lets them be: event files have one for about 900 steps.
 */
#ifndef SNAG_TESTS_SAMPLE_TRACE_H
#define SNAG_TESTS_SAMPLE_TRACE_H

#include <stdint.h>

#define SAMPLE_RANKS 4

/* sample_trace_write -- the archive dir/traces.otf2, with so many steps. Aborts on failure. */
void sample_trace_write(const char *dir, uint32_t n_steps);

#endif
