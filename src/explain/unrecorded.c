/*
 * A kind is a function, whatever it is called from. Kinds of one meeting, such as the call that
 * opens a window and the one that waits for that, are counted against each other.
 */
#include "explain/unrecorded.h"

#include "base/mem.h"
#include "base/named.h"
#include "base/order.h"
#include "base/search.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What of MPI-3.1, chapters 7.6, 11 and 13, may return only when others have come somewhere. */
static const struct waiting_call {
    const char *name;
    const char *meeting; /* what it has to do with; NULL: with its like */
    bool does_wait, is_waited_for;
} kinds[] = {
    {"MPI_Win_fence", NULL, true, true},
    {"MPI_Win_create", NULL, true, true},
    {"MPI_Win_allocate", NULL, true, true},
    {"MPI_Win_allocate_shared", NULL, true, true},
    {"MPI_Win_free", NULL, true, true},
    {"MPI_Win_post", "exposed", false, true},
    {"MPI_Win_start", "exposed", true, false},
    {"MPI_Win_complete", "completed", false, true},
    {"MPI_Win_wait", "completed", true, false},
    {"MPI_Neighbor_allgather", NULL, true, true},
    {"MPI_Neighbor_allgatherv", NULL, true, true},
    {"MPI_Neighbor_alltoall", NULL, true, true},
    {"MPI_Neighbor_alltoallv", NULL, true, true},
    {"MPI_Neighbor_alltoallw", NULL, true, true},
    {"MPI_File_open", NULL, true, true},
    {"MPI_File_close", NULL, true, true},
    {"MPI_File_set_view", NULL, true, true},
    {"MPI_File_set_size", NULL, true, true},
    {"MPI_File_preallocate", NULL, true, true},
    {"MPI_File_sync", NULL, true, true},
    {"MPI_File_read_all", NULL, true, true},
    {"MPI_File_write_all", NULL, true, true},
    {"MPI_File_read_at_all", NULL, true, true},
    {"MPI_File_write_at_all", NULL, true, true},
    {"MPI_File_read_ordered", NULL, true, true},
    {"MPI_File_write_ordered", NULL, true, true},
};

#define N_KINDS (sizeof kinds / sizeof *kinds)

struct unrecorded_finder {
    uint32_t meeting[N_KINDS]; /* the first kind that each has to do with, which may be it */
    struct unrecorded *u;
    const struct trace_view *view;
    uint8_t *kind_of;        /* [regions] N_KINDS: none of them */
    uint32_t count[N_KINDS]; /* of each, on the location that is looked at */
    uint32_t most[N_KINDS];  /* ... on any that calls it */
    bool is_even[N_KINDS];   /* all who call it do so as often */
    size_t cap;
};

static bool find_regions(struct unrecorded_finder *f)
{
    const struct definitions *defs = f->view->defs;
    bool is_any = false;

    f->kind_of = mem_alloc(defs->names.n, sizeof *f->kind_of);
    for (uint32_t r = 0; r < defs->names.n; r++) {
        const struct waiting_call *kind =
            defs->region[r].kind == REGION_MPI
                ? named_find(NAMED(kinds), defs->region[r].function)
                : NULL;

        f->kind_of[r] = kind ? (uint8_t)(kind - kinds) : N_KINDS;
        is_any |= kind != NULL;
    }
    return is_any;
}

/* The instance is the number of the call of its kind on its location until all are counted. */
static void find_calls(struct unrecorded_finder *f, uint32_t l)
{
    const struct call_view *calls = trace_view_calls(f->view, l);

    memset(f->count, 0, sizeof f->count);
    for (uint32_t row = 0; row < calls->n; row++) {
        uint32_t k = f->kind_of[calls->region[row]];

        if (k == N_KINDS)
            continue;
        *mem_push(&f->u->call, &f->u->n, &f->cap) = (struct unrecorded_call){
            row, f->count[k]++, kinds[k].does_wait, kinds[k].is_waited_for};
    }
    for (uint32_t k = 0; k < N_KINDS; k++) {
        uint32_t *most = &f->most[f->meeting[k]];

        if (f->count[k] > 0 && *most > 0 && *most != f->count[k])
            f->is_even[f->meeting[k]] = false;
        *most = f->count[k] > *most ? f->count[k] : *most;
    }
    trace_view_passed(f->view);
}

static void number_instances(struct unrecorded_finder *f)
{
    struct unrecorded *u = f->u;
    uint32_t base[N_KINDS];

    for (uint32_t k = 0; k < N_KINDS; k++) {
        base[k] = u->n_instances;
        u->n_instances += f->meeting[k] == k && f->is_even[k] ? f->most[k] : 0;
    }
    for (uint32_t l = 0; l < f->view->n_locations; l++)
        for (size_t i = u->first[l]; i < u->first[l + 1]; i++) {
            struct unrecorded_call *call = &u->call[i];
            uint32_t k = f->meeting[f->kind_of[f->view->calls[l].region[call->row]]];

            call->instance = f->is_even[k] ? base[k] + call->instance : UNRECORDED_ALONE;
        }
}

static int by_enter(const void *a, const void *b)
{
    const struct unrecorded_part *x = a, *y = b;

    return ORDER(x->enter_ns, y->enter_ns) ?: ORDER(x->location, y->location);
}

/* Those that are waited for, by instance. */
static void list_parts(struct unrecorded *u, const struct trace_view *view)
{
    size_t *next;

    u->first_part = mem_alloc((size_t)u->n_instances + 2, sizeof *u->first_part);
    next = u->first_part + 1; /* becomes the start of each, and then its end */
    for (size_t i = 0; i < u->n; i++)
        if (u->call[i].is_waited_for && u->call[i].instance != UNRECORDED_ALONE)
            next[u->call[i].instance + 1]++;
    for (uint32_t k = 0; k < u->n_instances; k++)
        next[k + 1] += next[k];
    u->part = mem_alloc(next[u->n_instances], sizeof *u->part);
    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = u->first[l]; i < u->first[l + 1]; i++) {
            const struct unrecorded_call *call = &u->call[i];

            if (call->is_waited_for && call->instance != UNRECORDED_ALONE)
                u->part[next[call->instance]++] =
                    (struct unrecorded_part){view->calls[l].enter_ns[call->row], l};
        }
    for (uint32_t k = 0; k < u->n_instances; k++)
        qsort(u->part + u->first_part[k], u->first_part[k + 1] - u->first_part[k],
              sizeof *u->part, by_enter);
}

static struct unrecorded *find_all(const struct trace_view *view)
{
    struct unrecorded *u = mem_alloc(1, sizeof *u);
    struct unrecorded_finder f = {.u = u, .view = view};

    u->first = mem_alloc((size_t)view->n_locations + 1, sizeof *u->first);
    if (view->is_whole && find_regions(&f)) {
        memset(f.is_even, true, sizeof f.is_even);
        for (uint32_t kind = 0; kind < N_KINDS; kind++) {
            f.meeting[kind] = kind;
            for (uint32_t k = 0; kinds[kind].meeting && f.meeting[kind] == kind && k < kind;
                 k++)
                if (kinds[k].meeting && strcmp(kinds[k].meeting, kinds[kind].meeting) == 0)
                    f.meeting[kind] = k;
        }
        for (uint32_t l = 0; l < view->n_locations; l++) {
            find_calls(&f, l);
            u->first[l + 1] = u->n;
        }
        number_instances(&f);
    }
    list_parts(u, view);
    free(f.kind_of);
    return u;
}

const struct unrecorded *unrecorded_of(const struct trace_view *view)
{
    struct unrecorded *u = *view->unrecorded, *found;

    if (u)
        return u;
    found = find_all(view);
    if (atomic_compare_exchange_strong(view->unrecorded, &u, found))
        return found;
    unrecorded_free(found); /* another thread was faster */
    return u;
}

void unrecorded_free(struct unrecorded *u)
{
    if (u == NULL)
        return;
    free(u->call);
    free(u->first);
    free(u->part);
    free(u->first_part);
    free(u);
}

const struct unrecorded_call *unrecorded_find(const struct unrecorded *u, uint32_t location,
                                              uint32_t row)
{
    size_t end = u->first[location + 1],
           i = FIRST_NOT(k, u->first[location], end, u->call[k].row < row);

    return i < end && u->call[i].row == row ? &u->call[i] : NULL;
}

const struct unrecorded_part *unrecorded_last_before(const struct unrecorded *u,
                                                     uint32_t instance, uint64_t time_ns)
{
    size_t first = u->first_part[instance],
           i = FIRST_NOT(k, first, u->first_part[instance + 1], u->part[k].enter_ns < time_ns);

    return i > first ? &u->part[i - 1] : NULL;
}
