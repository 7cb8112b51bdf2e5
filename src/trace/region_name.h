/*
 * region_name -- what a region is called: one canonical name, and a short one to show.
 *
 * Tracers write mangled names, signatures with return type and parameters, or a source
 * position after the name. The canonical name is the demangled one; two definitions with the
 * same canonical name are one region. The short name is what a person would say:
 *
 *     void LAMMPS_NS::PairEAM::compute(int, int) [{pair_eam.cpp} {100,1}-{308,1}]
 *     --> PairEAM::compute
 *
 * A call of MPI may be named with the place that it is called from, its call site. Each site
 * is a region of its own:
 *
 *     MPI_Wait@halo.c:45      MPI_Wait@_ZN4Halo7receiveEv+0x1f --> MPI_Wait@Halo::receive+0x1f
 *
 * What many functions are shown as (short_names) is short, and never the same for two: each
 * has the shortest of its names (region_name_longer) that is no other's. Of names that are
 * alike all get longer, the ones that were there before, too:
 *
 *     PassManager<llvm::Function>          PassManager<llvm::Function>
 *     PassManager<llvm::Loop>              PassManager<llvm::Loop>
 *     llvm::Verifier::run(Function&)       Verifier::run
 *
 * In two builds of a program (call_sites) names may hold lines and offsets (region_line),
 * which are others from build to build: a call of MPI is named with its place, TAU and PyTorch
 * name functions with theirs. As many names that are alike but for the line as are only in the
 * one build and only in the other are the same ones, in their order:
 *
 *     MPI_Wait@halo.c:45  MPI_Wait@halo.c:51  MPI_Wait@halo.c:60
 *                         MPI_Wait@halo.c:51  MPI_Wait@halo.c:64  MPI_Wait@halo.c:49
 *
 * are 45 and 49, 51 and 51, 60 and 64. Where there are more in one than in the other, nobody
 * knows.
 */
#ifndef SNAG_TRACE_REGION_NAME_H
#define SNAG_TRACE_REGION_NAME_H

#include "base/arena.h"
#include "base/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_REGION_NAME_BYTES 16384u /* bytes of a demangled name; longer ones stay mangled */

/* region_name_canonical -- demangled if it was mangled (Itanium ABI, or gfortran's names of
 * what is in modules), else text; in arena. */
const char *region_name_canonical(const char *text, struct arena *arena);

/*
 * region_name_short -- class and function of a C++ signature, without template arguments; the
 * name itself where it is not a signature, as those of Python are not, which begin with their
 * file: "torch/optim/sgd.py(120): zero_grad", "halo.py:Field.exchange". Never empty for a text
 * that is not. In arena.
 */
const char *region_name_short(const char *canonical, struct arena *arena);

/*
 * region_name_longer -- the same with more of the name, for those whose short names are alike.
 *   level  0: the short name; 1: with template arguments; 2: with all namespaces; 3: the whole
 *          signature; REGION_NAME_WHOLE: the name itself
 */
#define REGION_NAME_WHOLE 4

/* The part of a name that says where something is in its source, [begin, end): another one
 * after each change of the file. None: both are the length of the name. */
struct region_line {
    size_t begin, end;
    size_t number; /* where the line, or the offset, begins */
};

/*
 * region_name_identity -- a name without what changes from build to build: what a function is
 * known by in another run. Call sites of MPI are its function; parallel regions of OpenMP keep
 * their lines, as they have no other name. In arena, or canonical itself.
 */
const char *region_name_identity(const char *canonical, struct arena *arena);

/*
 * region_name_is -- whether what a function was shown as in some run may stand for a function:
 * one of its names (region_name_longer), whatever the line.
 *   shown  or what somebody says
 *   name   canonical, or an identity
 */
bool region_name_is(const char *shown, const char *name);

/* region_name_is_same -- whether two names differ in the line at most. */
bool region_name_is_same(const char *a, const char *b);

/* region_name_plain -- how many characters of a name are what MPI calls the function; all of
 * them where there is no call site. */
size_t region_name_plain(const char *name);

/* region_name_last -- the part of a short name after its last "::", or for Python ".", for
 * matching. */
const char *region_name_last(const char *short_name);

/*
 * REGION_RUNTIME stands for something the program does, as the measurement system names it;
 * REGION_TRACER for what would not be there without it: its time is nobody's; REGION_DEVICE for
 * calls in which a CPU waits until its GPU has done something.
 */
enum region_kind {
    REGION_USER,
    REGION_MPI,
    REGION_OPENMP,
    REGION_RUNTIME,
    REGION_TRACER,
    REGION_DEVICE,
    REGION_LOOP,
    N_REGION_KINDS
};

#define REGION_BUFFER_FLUSH "BUFFER_FLUSH" /* what OTF2's records of that name are calls of */
#define REGION_AUTOGRAD_WAIT "wait for autograd" /* a call of ours (chrome/backward.h) */
#define REGION_HELD_UP ", held up" /* what ends names of writes that were (held_up_tell) */

/*
 * region_name_kind -- what a name alone says: MPI_*, OpenMP and threading, the measurement
 * system's own regions, what the tracer does while the program waits, or the user's code. That
 * a region is a loop which was found (REGION_LOOP, see forest/loops.h) its name does not say.
 */
enum region_kind region_name_kind(const char *canonical);

/* region_name_is_flush -- of REGION_TRACER: that it writes what it has recorded. */
bool region_name_is_flush(const char *canonical);

/* region_name_is_held_up -- a write of the tracer that was held up (REGION_HELD_UP). */
bool region_name_is_held_up(const char *canonical);

/* A zeroed struct is empty and ready. */
struct short_names {
    const char **shown; /* [n] as they are added */
    uint32_t n;
    struct short_name *of; /* [n] */
    size_t cap, shown_cap;
    struct names text; /* all that was ever shown or would have been */
    uint32_t *owner;   /* [text.n] whose it is, or NAMES_NONE: of several */
    size_t owner_cap;
    uint32_t *changed; /* [n_changed] those that the last short_names_add has given a name */
    size_t n_changed, changed_cap;
};

void short_names_release(struct short_names *names);

/*
 * short_names_add -- one more.
 *   canonical  other than all before; must last as long as this
 * O(length), and of those whose names get longer.
 */
void short_names_add(struct short_names *names, const char *canonical);

/*
 * call_sites_same -- the name among the first n of `to` that stands for what name i of the
 * first n_from of `from` does: the same name, or one with another line as above; NAMES_NONE if
 * there is none. O(length), for one with a line that is not there O(names).
 */
uint32_t call_sites_same(const struct names *from, uint32_t n_from, uint32_t i,
                         const struct names *to, uint32_t n);

#endif
