/*
 * The table only grows, by a new one that replaces it: a reader that still has the old one
 * misses at worst what was added since, and then asks region_add, which looks again. The lock
 * guards the list of regions and is held by whoever changes the table.
 */
#include "regions.h"

#include "complain.h"
#include "filter.h"
#include "recorder.h"
#include "structure.h"
#include "symbols.h"

#include <pthread.h>
#include <stdlib.h>

#define FIRST_SLOTS 1024

struct region_table *_Atomic region_table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static uint32_t n_regions, cap_regions;

/* REGION_FILTERED if the filter says so. Takes the name. */
static uint32_t define(char *name, OTF2_RegionRole role, OTF2_Paradigm paradigm)
{
    if (!filter_includes(name) || n_regions == REGION_SKIPPED) {
        free(name);
        return REGION_FILTERED;
    }
    if (n_regions == cap_regions) {
        cap_regions = cap_regions ? 2 * cap_regions : 256;
        regions = must_resize(regions, cap_regions, sizeof *regions);
    }
    regions[n_regions] = (struct region){name, role, paradigm};
    return n_regions++;
}

static void insert(struct region_table *table, uintptr_t address, uint32_t region)
{
    size_t at = region_slot(address, table->mask);

    while (atomic_load_explicit(&table->entry[at].address, memory_order_relaxed) != 0)
        at = (at + 1) & table->mask;
    table->entry[at].region = region;
    atomic_store_explicit(&table->entry[at].address, address, memory_order_release);
    table->n++;
}

static struct region_table *grow(struct region_table *old)
{
    size_t slots = old ? 2 * (old->mask + 1) : FIRST_SLOTS;
    struct region_table *table =
        must_resize(NULL, 1, sizeof *table + slots * sizeof table->entry[0]);

    table->older = old;
    table->mask = slots - 1;
    table->n = 0;
    for (size_t i = 0; i < slots; i++)
        atomic_init(&table->entry[i].address, 0);
    for (size_t i = 0; old && i <= old->mask; i++) {
        uintptr_t address = atomic_load(&old->entry[i].address);

        if (address)
            insert(table, address, old->entry[i].region);
    }
    atomic_store_explicit(&region_table, table, memory_order_release);
    return table;
}

/* True if another thread was faster. */
static bool find(const struct region_table *table, uintptr_t address, uint32_t *region)
{
    if (table == NULL)
        return false;
    for (size_t at = region_slot(address, table->mask);; at = (at + 1) & table->mask) {
        uintptr_t found = atomic_load(&table->entry[at].address);

        *region = table->entry[at].region;
        if (found == address || found == 0)
            return found == address;
    }
}

uint32_t region_add(uintptr_t address)
{
    struct region_table *table;
    uint32_t region;

    pthread_mutex_lock(&lock);
    table = atomic_load(&region_table);
    if (!find(table, address, &region)) {
        region = define(symbol_name(address), OTF2_REGION_ROLE_FUNCTION,
                        structure_is(STRUCTURE_STACKS) ? OTF2_PARADIGM_SAMPLING
                                                       : OTF2_PARADIGM_COMPILER);
        if (table == NULL || 2 * (table->n + 1) > table->mask + 1)
            table = grow(table);
        insert(table, address, region);
    }
    pthread_mutex_unlock(&lock);
    return region;
}

uint32_t region_of_mpi(enum mpi_call call)
{
    static const struct {
        const char *name;
        OTF2_RegionRole role;
    } row[] = {
#define CALL_AS_ROW(name, role) {"MPI_" #name, OTF2_REGION_ROLE_##role},
        MPI_CALLS(CALL_AS_ROW)
#undef CALL_AS_ROW
    };
    static atomic_uint region[N_MPI_CALLS]; /* region + 2: 0 is unknown, 1 REGION_FILTERED */
    uint32_t known = atomic_load_explicit(&region[call], memory_order_acquire);

    if (__builtin_expect(known == 0, 0)) {
        pthread_mutex_lock(&lock);
        known = atomic_load(&region[call]);
        if (known == 0) {
            known = define(must_copy(row[call].name), row[call].role, OTF2_PARADIGM_MPI) + 2;
            atomic_store(&region[call], known);
        }
        pthread_mutex_unlock(&lock);
    }
    return known - 2;
}

bool region_is_of_program(uint32_t region)
{
    bool is_of_program;

    pthread_mutex_lock(&lock);
    is_of_program = region < n_regions && regions[region].paradigm != OTF2_PARADIGM_MPI;
    pthread_mutex_unlock(&lock);
    return is_of_program;
}

const struct region *regions_known(uint32_t *n)
{
    *n = n_regions;
    return regions;
}

uint32_t regions_from(uint32_t first, void (*each)(void *ctx, const struct region *region),
                      void *ctx)
{
    uint32_t n;

    pthread_mutex_lock(&lock);
    n = n_regions;
    for (uint32_t i = first; i < n; i++)
        each(ctx, &regions[i]);
    pthread_mutex_unlock(&lock);
    return n;
}
