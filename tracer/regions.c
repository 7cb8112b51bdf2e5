/*
 * The table only grows, by a new one that replaces it: a reader that still has the old one
 * misses at worst what was added since, and then asks region_add, which looks again. The lock
 * guards the list of regions and is held by whoever changes the table.
 */
#include "regions.h"

#include "budget.h"
#include "builds.h"
#include "filter.h"
#include "lines.h"
#include "memory.h"
#include "quiet.h"
#include "recorder.h"
#include "stack.h"
#include "state.h"
#include "structure.h"
#include "symbols.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024
#define MAX_REGIONS REGION_SKIPPED
#define MAX_CALL_SITES 8192u

_Static_assert(N_MPI_CALLS <= REGION_ALONE, "calls beside an address");

struct region_table *_Atomic region_table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct traced_region *regions;
static uint32_t n_regions, n_call_sites;
static size_t cap_regions;
static bool is_journaled;

/* Where a function begins is looked for in its file when the run is over, by whoever finishes
 * the trace. */
static void journal_region(const struct traced_region *r)
{
    struct build_address place = {0};
    uint64_t number[] = {r->role, r->paradigm, r->n_plain, r->line, 0, 0};
    const char *text[] = {r->name, r->file ? r->file : ""};

    if (r->address != 0 && r->file == NULL && build_address(r->address, &place)) {
        number[4] = place.build + 1;
        number[5] = place.address;
    }
    state_journal(&(struct definition){.kind = JOURNAL_REGION,
                                       .number = number,
                                       .n_numbers = sizeof number / sizeof *number,
                                       .text = text,
                                       .n_texts = 2});
}

void regions_journal(void)
{
    pthread_mutex_lock(&lock);
    is_journaled = true;
    for (uint32_t i = 0; i < n_regions; i++)
        journal_region(&regions[i]);
    pthread_mutex_unlock(&lock);
}

static uint32_t drop(const struct traced_region *region)
{
    memory_free(region->name);
    memory_free(region->file);
    return REGION_FILTERED;
}

static uint32_t add(struct traced_region region)
{
    if (!memory_grow(&regions, n_regions, cap_regions))
        return drop(&region);
    regions[n_regions] = region;
    if (is_journaled)
        journal_region(&region);
    return n_regions++;
}

/* REGION_FILTERED if the filter says so. Takes the strings. */
static uint32_t define(struct traced_region region)
{
    return filter_includes(region.name) && n_regions < MAX_REGIONS ? add(region)
                                                                   : drop(&region);
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
        memory_resize(NULL, 1, sizeof *table + slots * sizeof table->entry[0]);

    if (table == NULL)
        return old;
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

/* An MPI function, wherever it is called; the name is not to be freed. */
static struct traced_region region_of_mpi(enum mpi_call call)
{
    static const struct {
        char *name;
        OTF2_RegionRole role;
        bool is_optional;
    } row[] = {
#define CALL_AS_ROW(name, role, is_optional, is_whole)                                         \
    {"MPI_" #name, OTF2_REGION_ROLE_##role, is_optional},
        MPI_CALLS(CALL_AS_ROW)
#undef CALL_AS_ROW
    };

    return (struct traced_region){.name = row[call].name,
                                  .role = row[call].role,
                                  .paradigm = OTF2_PARADIGM_MPI,
                                  .is_optional = row[call].is_optional};
}

/* Its number, the same whatever place is asked for. */
static uint32_t define_mpi(enum mpi_call call)
{
    static uint32_t known[N_MPI_CALLS]; /* + 1 */
    struct traced_region region = region_of_mpi(call);

    if (known[call] == 0) {
        region.name = memory_copy(region.name);
        known[call] = define(region) + 1;
    }
    return known[call] - 1;
}

/* A program begins and ends once, and readers know the calls by name. */
static bool has_call_sites(enum mpi_call call)
{
    const char *said = getenv("SNAG_TRACER_CALL_SITES");

    return call != CALL_Init && call != CALL_Init_thread && call != CALL_Finalize &&
           (said == NULL || strcmp(said, "0") != 0) && n_call_sites < MAX_CALL_SITES;
}

/* "halo.c:45", or NULL where code is of no file. */
static char *call_place(uintptr_t returns_to)
{
    char *place = line_name(returns_to);

    if (place == NULL)
        place = symbol_place(returns_to);
    if (strpbrk(place, "+:"))
        return place;
    memory_free(place);
    return NULL;
}

/* Where a function of MPI is called; nothing where code is of no file. */
struct call_site {
    char *place; /* "halo.c:45", "exchange+0x1f" */
    struct source_line line;
};

/* "halo.py:45" */
static struct call_site site_in_python(uintptr_t line)
{
    const struct traced_region *in = &regions[(line & ~REGION_LINE) >> REGION_LINE_BITS];
    unsigned number = (unsigned)(line & (((uintptr_t)1 << REGION_LINE_BITS) - 1));
    const char *function = strrchr(in->name, ':');
    size_t n = (size_t)(function - in->name), bytes = n + sizeof ":16777216";
    struct call_site site = {memory_resize(NULL, bytes, 1), {memory_copy(in->file), number}};

    snprintf(site.place, bytes, "%.*s:%u", (int)n, in->name, number);
    return site;
}

static struct call_site call_site(uintptr_t returns_to)
{
    struct call_site site = {0};

    if (returns_to & REGION_LINE)
        return site_in_python(returns_to);
    site.place = call_place(returns_to);
    if (site.place)
        site.line = line_of_call(returns_to);
    return site;
}

/* "MPI_Wait@halo.c:45", "MPI_Barrier@halo.c:45 alone" or "MPI_Barrier@alone" */
static char *call_name(const char *plain, const char *place, bool is_alone)
{
    size_t bytes = strlen(plain) + strlen(place ? place : "") + sizeof "@ alone";
    char *name = memory_resize(NULL, bytes, 1);

    snprintf(name, bytes, "%s@%s%s%s", plain, place ? place : "", place && is_alone ? " " : "",
             is_alone ? "alone" : "");
    return name;
}

static uint32_t define_call(enum mpi_call call, bool is_alone, uintptr_t returns_to)
{
    struct traced_region region = region_of_mpi(call);
    bool has_site = returns_to != 0 && has_call_sites(call);
    struct call_site site = {0};

    if (!filter_includes(region.name) || n_regions >= MAX_REGIONS || (!has_site && !is_alone))
        return define_mpi(call);
    if (has_site && !(returns_to & REGION_LINE) && stack_is_of_mpi(returns_to))
        return REGION_CALLED_BY_MPI;
    if (has_site)
        site = call_site(returns_to);
    if (site.place == NULL && !is_alone)
        return define_mpi(call);
    region.n_plain = (uint32_t)strlen(region.name);
    region.name = call_name(region.name, site.place, is_alone);
    region.is_optional |= is_alone;
    region.file = site.line.file;
    region.line = site.line.number;
    n_call_sites += site.place != NULL;
    memory_free(site.place);
    return add(region);
}

static uint32_t define_at(uintptr_t address)
{
    enum openmp_construct construct = address & (((uintptr_t)1 << REGION_SITE_SHIFT) - 1);
    uintptr_t site = (address & ~REGION_OF_OPENMP) >> REGION_SITE_SHIFT;

    if (address & REGION_OF_CALL)
        return define_call(address & (REGION_ALONE - 1), (address & REGION_ALONE) != 0,
                           (address & ~REGION_OF_CALL) >> REGION_CALL_SHIFT);
    if (address & REGION_OF_OPENMP)
        return define((struct traced_region){.name = openmp_region_name(construct, site),
                                             .role = openmp_role(construct),
                                             .paradigm = OTF2_PARADIGM_OPENMP,
                                             .is_optional = true});
    return define((struct traced_region){.name = symbol_name(address),
                                         .role = OTF2_REGION_ROLE_FUNCTION,
                                         .paradigm = structure_is(STRUCTURE_STACKS)
                                                         ? OTF2_PARADIGM_SAMPLING
                                                         : OTF2_PARADIGM_COMPILER,
                                         .is_optional = true,
                                         .address = address});
}

/* A table that could not grow is filled no further than this: recording has ended. */
static bool has_room(const struct region_table *table)
{
    return table && 4 * (table->n + 1) <= 3 * (table->mask + 1);
}

/* The lock is held. */
static void remember(uintptr_t address, uint32_t region)
{
    struct region_table *table = atomic_load(&region_table);

    if (table == NULL || 2 * (table->n + 1) > table->mask + 1)
        table = grow(table);
    if (has_room(table))
        insert(table, address, region);
}

uint32_t region_add(uintptr_t address)
{
    uint64_t begin_ns = budget_thread_ns();
    uint32_t region;
    struct quiet q;

    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    if (!find(atomic_load(&region_table), address, &region)) {
        region = define_at(address);
        remember(address, region);
    }
    pthread_mutex_unlock(&lock);
    if (address & REGION_OF_CALL)
        budget_once(begin_ns);
    quiet_end(&q);
    return region;
}

/* FNV-1a, of which 61 bits stand in for an address. */
static uintptr_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return REGION_OF_PYTHON | (hash & (REGION_OF_PYTHON - 1));
}

uint32_t region_of_python(const char *name, const char *file, uint32_t line)
{
    uintptr_t address = hash_of(name);
    uint32_t region;
    struct quiet q;

    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    if (!find(atomic_load(&region_table), address, &region)) {
        region = define((struct traced_region){.name = memory_copy(name),
                                               .role = OTF2_REGION_ROLE_FUNCTION,
                                               .paradigm = OTF2_PARADIGM_COMPILER,
                                               .is_optional = true,
                                               .file = memory_copy(file),
                                               .line = line});
        remember(address, region);
    }
    pthread_mutex_unlock(&lock);
    quiet_end(&q);
    return region;
}

uint32_t region_of_call_behind(enum mpi_call call, bool is_alone, uintptr_t returns_to)
{
    uint32_t region = region_of_call(call, is_alone, returns_to);

    return region == REGION_CALLED_BY_MPI ? region_of_call(call, is_alone, 0) : region;
}

/* The same as of that function where it was not inlined, which is known by its name, too. */
static uint32_t region_of_inlined(const struct inlined *of)
{
    struct traced_region region = {.role = OTF2_REGION_ROLE_FUNCTION,
                                   .paradigm = OTF2_PARADIGM_SAMPLING,
                                   .is_optional = true,
                                   .line = of->line};

    for (uint32_t i = 0; i < n_regions; i++)
        if (regions[i].paradigm == region.paradigm && strcmp(regions[i].name, of->name) == 0)
            return i;
    region.name = memory_copy(of->name);
    region.file = of->file ? memory_copy(of->file) : NULL;
    return define(region);
}

size_t regions_inlined(uintptr_t code, struct region_open *open, uintptr_t *until)
{
    const struct inlined *of;
    size_t n = 0, n_kept = 0;

    pthread_mutex_lock(&lock);
    of = inlined_at(code, until);
    while (of && of->depth >= REGIONS_INLINED)
        of = of->caller;
    n = of ? of->depth + 1 : 0;
    for (size_t i = n; i-- > 0; of = of->caller)
        open[i] = (struct region_open){region_of_inlined(of), true, of->place};
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < n; i++)
        if (open[i].region != REGION_FILTERED)
            open[n_kept++] = open[i];
    return n_kept;
}

enum inlined_relation regions_between(uintptr_t from, uintptr_t to, uint64_t place)
{
    enum inlined_relation relation;

    pthread_mutex_lock(&lock);
    relation = inlined_between(from, to, place);
    pthread_mutex_unlock(&lock);
    return relation;
}

bool region_of_mpi_is_left_out_whole(enum mpi_call call)
{
    static const bool is_left_out_whole[] = {
#define CALL_AS_FLAG(name, role, is_optional, is_whole) is_whole,
        MPI_CALLS(CALL_AS_FLAG)
#undef CALL_AS_FLAG
    };

    return is_left_out_whole[call];
}

bool region_is_optional(uint32_t region)
{
    bool is_optional;

    pthread_mutex_lock(&lock);
    is_optional = region < n_regions && regions[region].is_optional;
    pthread_mutex_unlock(&lock);
    return is_optional;
}

uint32_t regions_from(uint32_t first,
                      void (*each)(void *ctx, const struct traced_region *region), void *ctx)
{
    uint32_t n;

    pthread_mutex_lock(&lock);
    n = n_regions;
    for (uint32_t i = first; i < n; i++)
        each(ctx, &regions[i]);
    pthread_mutex_unlock(&lock);
    return n;
}
