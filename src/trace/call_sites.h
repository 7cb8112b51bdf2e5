/*
 * call_sites -- functions, and places that MPI is called from, in two builds of a program.
 *
 * Names may hold lines and offsets (region_line), which are others from build to build: a call
 * of MPI is named with its place, TAU and PyTorch name functions with theirs. As many names
 * that are alike but for the line as are only in the one build and only in the other are the
 * same ones, in their order:
 *
 *     MPI_Wait@halo.c:45  MPI_Wait@halo.c:51  MPI_Wait@halo.c:60
 *                         MPI_Wait@halo.c:51  MPI_Wait@halo.c:64  MPI_Wait@halo.c:49
 *
 * are 45 and 49, 51 and 51, 60 and 64. Where there are more in one than in the other, nobody
 * knows.
 */
#ifndef SNAG_TRACE_CALL_SITES_H
#define SNAG_TRACE_CALL_SITES_H

#include "base/names.h"

#include <stdint.h>

/*
 * call_sites_same -- the name among the first n of `to` that stands for what name i of the
 * first n_from of `from` does: the same name, or one with another line as above; NAMES_NONE if
 * there is none. O(length), for one with a line that is not there O(names).
 */
uint32_t call_sites_same(const struct names *from, uint32_t n_from, uint32_t i,
                         const struct names *to, uint32_t n);

#endif
