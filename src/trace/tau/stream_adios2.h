/*
 * stream_adios2 -- what TAU's ADIOS2 plugin writes while the program runs: BP files that grow,
 * SST streams, one (PATH) or all that are in a directory or come to be there (tau:DIR).
 *
 * A step of the stream is a step of one of them. Ranks are those within their program; location
 * and metadata say which program that is. A file or stream that breaks off is over and counted
 * as `broken_off`; the others go on. All are over when each is, and no other has appeared.
 */
#ifndef SNAG_TRACE_STREAM_ADIOS2_H
#define SNAG_TRACE_STREAM_ADIOS2_H

#include "trace/stream.h"

extern const struct stream_ops stream_adios2_ops;

#endif
