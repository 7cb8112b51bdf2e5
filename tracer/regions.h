/*
 * regions -- small numbers for the functions that are traced, in order of first use.
 *
 * The numbers are local to the process; which of the ranks' regions are the same function is
 * found when the trace is finished. Looking up a function that was met before is a hash table
 * without locks, because every hook does it. A function the filter excludes is looked up just
 * the same and then has the number REGION_FILTERED, so its calls cost nearly nothing.
 */
#ifndef SNAG_TRACER_REGIONS_H
#define SNAG_TRACER_REGIONS_H

#include "inlined.h"
#include "mpi_calls.h"
#include "openmp.h"

#include <otf2/otf2.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct traced_region {
    char *name;       /* as the linker sees it, mangled; of MPI with where it is called,
                         "MPI_Wait@halo.c:45" */
    uint32_t n_plain; /* characters of the name without that; 0: it is not known */
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    bool is_optional;  /* its calls may be left out, see budget.h */
    uintptr_t address; /* where it begins; 0: not known */
    char *file;        /* of its source; NULL: not known, or by the address */
    uint32_t line;
};

struct region_entry {
    atomic_uintptr_t address; /* 0: free */
    uint32_t region;          /* written before address */
};

struct region_table {
    struct region_table *older; /* outgrown; a reader may still be looking in it */
    size_t mask;                /* slots - 1, a power of two less one */
    size_t n;                   /* slots used, at most half */
    struct region_entry entry[];
};

extern struct region_table *_Atomic region_table;

static inline size_t region_slot(uintptr_t address, size_t mask)
{
    return (size_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 32) & mask;
}

/* What a construct of OpenMP at a place has instead of an address. */
#define REGION_OF_OPENMP ((uintptr_t)1 << 63)
#define REGION_SITE_SHIFT 5
/* Of MPI likewise. */
#define REGION_OF_CALL ((uintptr_t)1 << 62)
#define REGION_CALL_SHIFT 10
#define REGION_ALONE ((uintptr_t)1 << 9)
/* Of a function of Python likewise. */
#define REGION_OF_PYTHON ((uintptr_t)1 << 61)

/* region_add -- the number of a function, or of a construct, that is met for the first time.
 * Takes a lock. */
uint32_t region_add(uintptr_t address);

static inline uint32_t region_at(uintptr_t address)
{
    uintptr_t found;
    struct region_table *table = atomic_load_explicit(&region_table, memory_order_acquire);
    size_t at;

    if (__builtin_expect(table == NULL, 0))
        return region_add(address);
    at = region_slot(address, table->mask);
    for (;;) {
        found = atomic_load_explicit(&table->entry[at].address, memory_order_acquire);
        if (__builtin_expect(found == address, 1))
            return table->entry[at].region;
        if (found == 0)
            return region_add(address);
        at = (at + 1) & table->mask;
    }
}

/* region_of -- the number of the function at this address. Thread-safe. */
static inline uint32_t region_of(const void *function)
{
    return region_at((uintptr_t)function);
}

/*
 * region_of_python -- the number of a function of an interpreter, which is known by its name.
 *   name  "torch/optim/sgd.py:SGD.step"
 *   file  of its source
 *   line  where it begins
 * Takes a lock.
 */
uint32_t region_of_python(const char *name, const char *file, uint32_t line);

/* region_line -- a place in a function of an interpreter, in place of an address behind a call;
 * 0 if it is none. */
#define REGION_LINE ((uintptr_t)1 << 51)
#define REGION_LINE_BITS 24
static inline uintptr_t region_line(uint32_t region, uint32_t line)
{
    return region >= 1u << 27 || line >> REGION_LINE_BITS
               ? 0
               : REGION_LINE | (uintptr_t)region << REGION_LINE_BITS | line;
}

/* region_of_openmp -- of a construct, where the program calls the runtime. Thread-safe. */
static inline uint32_t region_of_openmp(enum openmp_construct construct, const void *site)
{
    return region_at(REGION_OF_OPENMP | (uintptr_t)site << REGION_SITE_SHIFT |
                     (uintptr_t)construct);
}

/*
 * region_of_call -- the number of an MPI function, as it is called from one place: with debug
 * information MPI_Wait@halo.c:45, without MPI_Wait@exchange+0x1f. The function's own where
 * $SNAG_TRACER_CALL_SITES is 0, the place is in no file, or there were too many.
 * REGION_CALLED_BY_MPI where it is a layer of MPI that calls, as MPICH's of Fortran.
 * Thread-safe.
 *   is_alone    a collective of one process, a region of its own that is_optional
 *   returns_to  the address behind the call, or region_line
 */
static inline uint32_t region_of_call(enum mpi_call call, bool is_alone, uintptr_t returns_to)
{
    return region_at(REGION_OF_CALL | returns_to << REGION_CALL_SHIFT |
                     (is_alone ? REGION_ALONE : 0) | (uintptr_t)call);
}

/* region_of_call_behind -- likewise, of the program's function behind that layer; 0: it is not
 * known. */
uint32_t region_of_call_behind(enum mpi_call call, bool is_alone, uintptr_t returns_to);

/* A function that is open at an instruction, and the same place for all that is of one call. */
struct region_open {
    uint32_t region;
    bool is_inlined;
    uint64_t place;
};

/*
 * regions_inlined -- the functions that are inlined around an instruction, but those that the
 * filter excludes. Takes a lock.
 *   open   [REGIONS_INLINED] out: the outermost first
 *   until  out: so far code is of the same ones; 0: it is not known
 * Returns how many there are; what is further inside is left out.
 */
#define REGIONS_INLINED 32
size_t regions_inlined(uintptr_t code, struct region_open *open, uintptr_t *until);

/* regions_between -- inlined_between. Takes a lock. */
enum inlined_relation regions_between(uintptr_t from, uintptr_t to, uint64_t place);

/* region_of_mpi_is_left_out_whole -- where its calls are left out, nothing is recorded of them.
 */
bool region_of_mpi_is_left_out_whole(enum mpi_call call);

/* region_is_optional -- a function of the program, a construct of OpenMP, or a function of MPI
 * that only asks for something, flushes a window, or moves data of it: its calls may be left
 * out. Takes a lock.
 */
bool region_is_optional(uint32_t region);

/* regions_journal -- the state (state.h) is open: put all regions into its journal, and from
 * now on each new one. Takes the lock that region_add takes. */
void regions_journal(void);

/*
 * regions_from -- regions from number `first` on, while others may be added.
 *   each  gets each of them, and is not to trace anything
 * Returns how many there are. Takes the lock that region_add takes.
 */
uint32_t regions_from(uint32_t first,
                      void (*each)(void *ctx, const struct traced_region *region), void *ctx);

#endif
