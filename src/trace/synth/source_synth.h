/*
 * source_synth -- a trace said in one line, for tests and demonstrations:
 *
 *     synth:20*step(compute@1ms >1 <1 |);ranks=4;jitter=0.1;slow=compute/15/10/2
 *
 * What there is: docs/formats.md, "Programs in one line".
 */
#ifndef SNAG_TRACE_SOURCE_SYNTH_H
#define SNAG_TRACE_SOURCE_SYNTH_H

#include "trace/source.h"

extern const struct source_ops source_synth_ops;

#endif
