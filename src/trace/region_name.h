/*
 * region_name -- what a region is called: one canonical name, and a short one to show.
 *
 * Tracers write mangled names, signatures with return type and parameters, or a source position
 * after the name. The canonical name is the demangled one; two definitions with the same
 * canonical name are one region. The short name is what a person would say:
 *
 *     void LAMMPS_NS::PairEAM::compute(int, int) [{pair_eam.cpp} {100,1}-{308,1}]
 *     --> PairEAM::compute
 *
 * A call of MPI may be named with the place that it is called from, its call site. Each site is
 * a region of its own:
 *
 *     MPI_Wait@halo.c:45      MPI_Wait@_ZN4Halo7receiveEv+0x1f --> MPI_Wait@Halo::receive+0x1f
 */
#ifndef SNAG_TRACE_REGION_NAME_H
#define SNAG_TRACE_REGION_NAME_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define REGION_NAME_MOST 16384u /* bytes of a demangled name; longer ones stay mangled */

/* region_name_canonical -- demangled if it was mangled (Itanium ABI, or gfortran's names of
 * what is in modules), else text; in arena. */
const char *region_name_canonical(const char *text, struct arena *arena);

/*
 * region_name_short -- class and function of a C++ signature, without template arguments; the
 * name itself where it is not a signature. Never empty for a text that is not. In arena.
 */
const char *region_name_short(const char *canonical, struct arena *arena);

/* region_name_plain -- how many characters of a name are what MPI calls the function; all of
 * them where there is no call site. */
size_t region_name_plain(const char *name);

/* region_name_last -- the part of a short name after its last "::", for matching. */
const char *region_name_last(const char *short_name);

/*
 * REGION_RUNTIME stands for something the program does, as the measurement system names it;
 * REGION_TRACER for what would not be there without it: its time is nobody's.
 */
enum region_kind {
    REGION_USER,
    REGION_MPI,
    REGION_OPENMP,
    REGION_RUNTIME,
    REGION_TRACER,
    REGION_LOOP,
    N_REGION_KINDS
};

#define REGION_BUFFER_FLUSH "BUFFER_FLUSH" /* what OTF2's records of that name are calls of */

/*
 * region_name_kind -- what a name alone says: MPI_*, OpenMP and threading, the measurement
 * system's own regions, what the tracer does while the program waits, or the user's code. That
 * a region is a loop which was found (REGION_LOOP, see forest/loops.h) its name does not say.
 */
enum region_kind region_name_kind(const char *canonical);

/* region_name_is_flush -- of REGION_TRACER: that it writes what it has recorded. */
bool region_name_is_flush(const char *canonical);

#endif
