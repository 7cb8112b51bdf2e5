/*
 * regions -- small numbers for the functions that are traced, in order of first use.
 *
 * The numbers are local to the process; unify.c finds which of the ranks' regions are the same
 * function. Looking up a function that was met before is a hash table without locks, because
 * every hook does it. A function the filter excludes is looked up just the same and then has
 * the number REGION_FILTERED, so its calls cost nearly nothing.
 */
#ifndef SNAG_TRACER_REGIONS_H
#define SNAG_TRACER_REGIONS_H

#include "mpi_calls.h"

#include <otf2/otf2.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region {
    char *name; /* as the linker sees it, mangled */
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
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

/* region_add -- the number of a function that is met for the first time. Takes a lock. */
uint32_t region_add(uintptr_t address);

/* region_of -- the number of the function at this address. Thread-safe. */
static inline uint32_t region_of(const void *function)
{
    uintptr_t address = (uintptr_t)function, found;
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

/* region_of_mpi -- the number of an MPI function. Thread-safe. */
uint32_t region_of_mpi(enum mpi_call call);

/* region_is_of_program -- whether it is a function of the program, not of MPI. Takes a lock. */
bool region_is_of_program(uint32_t region);

/* regions_known -- all regions, their number in *n. Call when nothing is recorded any more. */
const struct region *regions_known(uint32_t *n);

/*
 * regions_from -- regions from number `first` on, while others may be added.
 *   each  gets each of them, and is not to trace anything
 * Returns how many there are. Takes the lock that region_add takes.
 */
uint32_t regions_from(uint32_t first, void (*each)(void *ctx, const struct region *region),
                      void *ctx);

#endif
