/*
 * Ranks: a source that knows MPI gives the rank of each process it knows; the others (a serial
 * program, a process outside MPI) are numbered after them in the order of their group ids.
 */
#include "trace/definitions.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "trace/event.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool region_is_poll(const struct region *region)
{
    static const char *const function[] = {
        "MPI_Test",   "MPI_Testall", "MPI_Testany",  "MPI_Testsome",
        "MPI_Iprobe", "MPI_Improbe", "MPI_Win_test", "MPI_Request_get_status"};

    for (size_t i = 0; i < sizeof function / sizeof *function; i++)
        if (region_is_mpi(region, function[i]))
            return true;
    return false;
}

void definitions_release(struct definitions *defs)
{
    free(defs->region);
    free(defs->location);
    free(defs->comm);
    free(defs->metadata);
    free(defs->left_out);
    free(defs->linking);
    free(defs->dependency);
    free(defs->note);
    names_release(&defs->names);
    short_names_release(&defs->shown);
    free(defs->counter);
    names_release(&defs->counters);
    names_release(&defs->arguments);
    arena_release(&defs->arena);
    *defs = (struct definitions){0};
}

/* What is called there, known before its call site is; NAMES_NONE where there is none. */
static uint32_t add_plain(struct definitions *defs, const char *canonical)
{
    size_t n = region_name_plain(canonical);
    char plain[64];

    if (canonical[n] == '\0' || n >= sizeof plain)
        return NAMES_NONE;
    memcpy(plain, canonical, n);
    plain[n] = '\0';
    return definitions_region(defs, plain);
}

/* What MPI calls it: without its call site, and without the "()" of TAU's names. */
static const char *function_of(struct definitions *defs, const struct region *region)
{
    size_t n = strlen(region->plain);
    char *function;

    if (region->kind != REGION_MPI || n < 2 || strcmp(region->plain + n - 2, "()") != 0)
        return region->plain;
    function = arena_string(&defs->arena, region->plain);
    function[n - 2] = '\0';
    return function;
}

uint32_t definitions_plain(const struct definitions *defs, uint32_t region)
{
    return names_find(&defs->names, defs->region[region].plain);
}

uint32_t definitions_region(struct definitions *defs, const char *name)
{
    struct arena_mark mark = arena_mark(&defs->arena);
    const char *canonical = region_name_canonical(name, &defs->arena);
    uint32_t plain = add_plain(defs, canonical), n_before = defs->names.n;
    uint32_t i = names_add(&defs->names, canonical);

    if (plain == NAMES_NONE)
        arena_restore(&defs->arena, mark);
    if (defs->names.n == n_before)
        return i;
    mem_grow(&defs->region, &defs->region_cap, (size_t)i + 1);
    canonical = defs->names.name[i];
    defs->region[i] = (struct region){
        .name = canonical,
        .brief = region_name_short(canonical, &defs->arena),
        .identity = region_name_identity(canonical, &defs->arena),
        .plain = plain == NAMES_NONE ? canonical : defs->names.name[plain],
        .kind = region_name_kind(canonical),
    };
    defs->region[i].function = function_of(defs, &defs->region[i]);
    short_names_add(&defs->shown, canonical);
    for (size_t k = 0; k < defs->shown.n_changed; k++)
        defs->region[defs->shown.changed[k]].short_name =
            defs->shown.shown[defs->shown.changed[k]];
    return i;
}

void definitions_source(struct definitions *defs, uint32_t region, const char *file,
                        uint32_t line)
{
    struct region *r = &defs->region[region];

    if (*file == '\0' || line == 0)
        return;
    if (r->file == NULL) {
        r->file = arena_string(&defs->arena, file);
        r->line = line;
    } else if (r->line != line || strcmp(r->file, file) != 0) {
        r->file = "";
        r->line = 0;
    }
}

const char *counter_mode_name(enum counter_mode mode)
{
    static const char *const names[N_COUNTER_MODES] = {"unknown", "accumulated", "absolute",
                                                       "relative"};

    return names[mode];
}

const char *counter_span_name(enum counter_span span)
{
    static const char *const names[N_COUNTER_SPANS] = {"point", "start", "last", "next"};

    return names[span];
}

struct counter definitions_counter_of(const struct definitions *defs, uint32_t counter)
{
    return counter < defs->n_described ? defs->counter[counter] : (struct counter){.unit = ""};
}

static void describe(struct definitions *defs, uint32_t at, const struct counter *counter)
{
    mem_grow(&defs->counter, &defs->counter_cap, (size_t)at + 1);
    while (defs->n_described <= at)
        defs->counter[defs->n_described++] = (struct counter){.unit = ""};
    defs->counter[at] = *counter;
    defs->counter[at].unit = arena_string(&defs->arena, counter->unit);
}

uint32_t definitions_counter(struct definitions *defs, const char *name,
                             const struct counter *counter)
{
    uint32_t n_before = defs->counters.n, at = names_add(&defs->counters, name);
    struct counter known = definitions_counter_of(defs, at);

    if (at == n_before)
        describe(defs, at, counter);
    else if (known.mode != counter->mode || known.span != counter->span ||
             strcmp(known.unit, counter->unit) != 0)
        describe(defs, at, &(struct counter){.unit = ""});
    return at;
}

char *region_source(const struct region *region, char out[REGION_PLACE_SIZE])
{
    const char *slash = region->line > 0 ? strrchr(region->file, '/') : NULL;

    *out = '\0';
    if (region->line == 0)
        return out;
    snprintf(out, REGION_PLACE_SIZE, "%.60s:%u", slash ? slash + 1 : region->file,
             region->line);
    if (strstr(region->name, out))
        *out = '\0';
    return out;
}

char *region_place(const struct region *region, char out[REGION_PLACE_SIZE])
{
    char at[REGION_PLACE_SIZE];

    if (*region_source(region, at))
        snprintf(out, REGION_PLACE_SIZE, " (%.75s)", at);
    else
        *out = '\0';
    return out;
}

struct location *definitions_location(struct definitions *defs, uint64_t id, const char *name,
                                      uint64_t group)
{
    struct location *location;

    location = mem_push(&defs->location, &defs->n_locations, &defs->location_cap);
    *location = (struct location){
        .id = id,
        .name = arena_string(&defs->arena, name),
        .node = "",
        .group = group,
        .rank = NO_RANK,
    };
    return location;
}

uint32_t definitions_comm(struct definitions *defs, const char *name, uint32_t n_members)
{
    mem_grow(&defs->comm, &defs->comm_cap, (size_t)defs->n_comms + 1);
    defs->comm[defs->n_comms] = (struct comm){
        .name = arena_string(&defs->arena, name),
        .n_members = n_members,
        .member = arena_zeros(&defs->arena, uint32_t, n_members),
    };
    return defs->n_comms++;
}

void definitions_left_out(struct definitions *defs, const struct left_out *left_out)
{
    *mem_push(&defs->left_out, &defs->n_left_out, &defs->left_out_cap) = *left_out;
}

const uint32_t *definitions_sorted(struct definitions *defs, const uint32_t *rank, uint32_t n)
{
    uint32_t *sorted = arena_array(&defs->arena, uint32_t, n);

    memcpy(sorted, rank, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, order_u32);
    return sorted;
}

void definitions_metadata(struct definitions *defs, const struct metadata *metadata)
{
    struct metadata *m;

    m = mem_push(&defs->metadata, &defs->n_metadata, &defs->metadata_cap);
    *m = *metadata;
    m->key = arena_string(&defs->arena, metadata->key);
    m->value = arena_string(&defs->arena, metadata->value);
}

void definitions_dependency(struct definitions *defs, const struct dependency *dependency)
{
    *mem_push(&defs->dependency, &defs->n_dependencies, &defs->dependency_cap) = *dependency;
}

struct linking *definitions_linking(struct definitions *defs, const char *from)
{
    size_t i = 0;

    while (i < defs->n_linkings && strcmp(defs->linking[i].from, from) != 0)
        i++;
    if (i == defs->n_linkings) {
        mem_grow(&defs->linking, &defs->linking_cap, i + 1);
        defs->linking[defs->n_linkings++] =
            (struct linking){.from = arena_string(&defs->arena, from)};
    }
    return &defs->linking[i];
}

void definitions_note(struct definitions *defs, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *mem_push(&defs->note, &defs->n_notes, &defs->note_cap) = arena_string(&defs->arena, text);
}

static int by_group(const void *a, const void *b)
{
    const struct process_rank *p = a, *q = b;

    /* a known rank comes before NO_RANK */
    return ORDER(p->group, q->group) ?: ORDER(p->rank, q->rank);
}

static int by_group_and_id(const void *a, const void *b)
{
    const struct location *p = a, *q = b;

    return ORDER(p->group, q->group) ?: ORDER(p->id, q->id);
}

static int by_rank_and_thread(const void *a, const void *b)
{
    const struct location *p = a, *q = b;

    return ORDER(p->rank, q->rank) ?: ORDER(p->thread, q->thread) ?: ORDER(p->id, q->id);
}

/* Sorts and joins known ranks with the groups of all locations: one entry per process. */
static size_t list_processes(const struct definitions *defs, const struct process_rank *known,
                             size_t n_known, struct process_rank *process)
{
    size_t n = 0, n_kept = 0;
    uint32_t next = 0;

    for (size_t i = 0; i < n_known; i++)
        process[n++] = known[i];
    for (uint32_t i = 0; i < defs->n_locations; i++)
        process[n++] = (struct process_rank){defs->location[i].group, NO_RANK};
    qsort(process, n, sizeof *process, by_group);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || process[i].group != process[n_kept - 1].group)
            process[n_kept++] = process[i];
    for (size_t i = 0; i < n_kept; i++)
        if (process[i].rank != NO_RANK && process[i].rank >= next)
            next = process[i].rank + 1;
    for (size_t i = 0; i < n_kept; i++)
        if (process[i].rank == NO_RANK)
            process[i].rank = next++;
    return n_kept;
}

/* For each region of writes of the tracer. */
static void add_held_up(struct definitions *defs)
{
    for (uint32_t r = 0, n = defs->names.n; r < n; r++) {
        char name[64];
        uint32_t held_up;

        if (defs->region[r].kind != REGION_TRACER ||
            !region_name_is_flush(defs->region[r].name))
            continue;
        snprintf(name, sizeof name, "%s%s", defs->region[r].name, REGION_HELD_UP);
        held_up = definitions_region(defs, name);
        defs->region[r].held_up = held_up;
    }
}

void definitions_finish(struct definitions *defs, const struct process_rank *known,
                        size_t n_known)
{
    struct process_rank *process =
        mem_alloc(n_known + (size_t)defs->n_locations, sizeof *process);
    size_t n = list_processes(defs, known, n_known, process);
    uint32_t thread = 0;

    qsort(defs->location, defs->n_locations, sizeof *defs->location, by_group_and_id);
    for (uint32_t i = 0, p = 0; i < defs->n_locations; i++) {
        struct location *location = &defs->location[i];

        while (p < n && process[p].group != location->group)
            p++;
        assert(p < n);
        if (i == 0 || location->group != location[-1].group)
            thread = 0;
        location->rank = process[p].rank;
        location->thread = thread++;
        if (location->rank >= defs->n_ranks)
            defs->n_ranks = location->rank + 1;
    }
    free(process);
    add_held_up(defs);
    qsort(defs->location, defs->n_locations, sizeof *defs->location, by_rank_and_thread);
}

uint32_t definitions_peer(const struct definitions *defs, uint32_t comm, uint32_t rank,
                          uint32_t peer)
{
    const struct comm *c = &defs->comm[comm];

    assert(comm < defs->n_comms);
    if (c->is_self)
        return rank;
    if (c->n_remote > 0 && bsearch(&rank, c->sorted, c->n_members, sizeof rank, order_u32))
        return peer < c->n_remote ? c->remote[peer] : NO_RANK;
    return peer < c->n_members ? c->member[peer] : NO_RANK;
}

uint32_t definitions_find_location(const struct definitions *defs, uint32_t rank)
{
    uint32_t low = FIRST_NOT(i, 0, defs->n_locations, defs->location[i].rank < rank);

    return low < defs->n_locations && defs->location[low].rank == rank ? low : NO_LOCATION;
}
