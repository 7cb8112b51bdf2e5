/*
 * source_adios2 -- finished traces of TAU's ADIOS2 plugin: a BP3, BP4 or BP5 file, or a
 * directory with one per program and rank. For those that are still being written there is
 * stream_adios2.h.
 *
 * Ranks of several programs are numbered one after the other, in the order of the programs.
 */
#ifndef SNAG_TRACE_SOURCE_ADIOS2_H
#define SNAG_TRACE_SOURCE_ADIOS2_H

#include "trace/source.h"

extern const struct source_ops source_adios2_ops;

#endif
