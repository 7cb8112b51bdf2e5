/*
 * Handles may be reused once a communicator is freed, so those that are alive are kept apart
 * from the definitions, which are for ever: in a hash table whose buckets are lists. The lock
 * guards both.
 */
#include "communicator_handles.h"

#include "complain.h"
#include "memory.h"
#include "quiet.h"
#include "state.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define N_BUCKETS 4096 /* a power of two */

struct live {
    MPI_Comm handle;
    uint32_t id;
    struct live *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct communicator *known;
static struct live *bucket[N_BUCKETS];
static uint32_t n_known, n_named; /* n_named: pairs made up by this rank */
static size_t cap_known;

/* Where the handle is, or would be; with the lock held. A handle is a pointer or an int. */
static struct live **find(MPI_Comm handle)
{
    uint64_t bits = 0;
    struct live **at;

    memcpy(&bits, &handle, sizeof handle);
    at = &bucket[(bits * 0x9e3779b97f4a7c15u >> 40) & (N_BUCKETS - 1)];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static char *name_of(MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;

    if (PMPI_Comm_get_name(comm, name, &length) != MPI_SUCCESS || length == 0)
        return NULL;
    return memory_copy(name);
}

uint32_t *group_members(MPI_Group group, int n)
{
    int *from = memory_resize(NULL, (size_t)n, sizeof *from);
    uint32_t *to = memory_resize(NULL, (size_t)n, sizeof *to);
    MPI_Group world;

    if (from == NULL || to == NULL) {
        memory_free(from);
        memory_free(to);
        return NULL;
    }
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++)
        from[i] = i;
    PMPI_Group_translate_ranks(group, n, from, world, (int *)to);
    PMPI_Group_free(&world);
    memory_free(from);
    return to;
}

static uint32_t *members_of(MPI_Comm comm, int n)
{
    uint32_t *members;
    MPI_Group group;

    PMPI_Comm_group(comm, &group);
    members = group_members(group, n);
    PMPI_Group_free(&group);
    return members;
}

/* Members that follow each other at one distance are a run: the first, the distance, how many.
 */
static size_t runs_of(const struct communicator *c, uint32_t (*run)[3])
{
    size_t n = 0;

    for (uint32_t i = 0; i < c->size; i++) {
        uint32_t *last = n > 0 ? run[n - 1] : NULL;

        if (last && last[2] == 1)
            last[1] = c->member[i] - last[0];
        if (last && c->member[i] == last[0] + last[1] * last[2])
            last[2]++;
        else
            memcpy(run[n++], (uint32_t[]){c->member[i], 0, 1}, sizeof *run);
    }
    return n;
}

static void journal(const struct communicator *c)
{
    uint64_t number[] = {c->first_rank, c->number, c->parent, c->size};
    uint32_t(*run)[3] = memory_resize(NULL, c->size, sizeof *run);

    if (run == NULL)
        return;
    state_journal(&(struct definition){.kind = JOURNAL_COMMUNICATOR,
                                       .number = number,
                                       .n_numbers = 4,
                                       .data = run,
                                       .bytes = runs_of(c, run) * sizeof *run});
    memory_free(run);
}

/* With the lock held; NULL: it has none, or the one it had. */
static void name_it(uint32_t id, const char *text)
{
    uint64_t number = id;
    char *before = known[id].name;

    if (text == NULL || (before && strcmp(before, text) == 0))
        return;
    known[id].name = memory_copy(text);
    memory_free(before);
    state_journal(&(struct definition){
        .kind = JOURNAL_NAME, .number = &number, .n_numbers = 1, .text = &text, .n_texts = 1});
}

/* With the lock held. A handle that was freed unseen may be there still. */
static void keep(MPI_Comm comm, struct communicator c)
{
    struct live **at = find(comm);

    if (!memory_grow(&known, n_known, cap_known)) {
        memory_free(c.member);
        return;
    }
    if (*at == NULL) {
        *at = memory_resize(NULL, 1, sizeof **at);
        **at = (struct live){.handle = comm};
    }
    (*at)->id = n_known;
    known[n_known++] = c;
    journal(&c);
    if (n_known == MAX_COMMUNICATORS)
        complain("more than %d communicators: of messages and collectives in further ones "
                 "only the calls are recorded",
                 MAX_COMMUNICATORS);
}

static void define(MPI_Comm comm, uint32_t parent, const uint32_t pair[2])
{
    struct communicator c = {.first_rank = pair[0], .number = pair[1], .parent = parent};
    struct quiet q;
    int size;

    PMPI_Comm_size(comm, &size);
    c.size = (uint32_t)size;
    c.member = members_of(comm, size);
    if (c.member == NULL)
        return;
    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    if (n_known < MAX_COMMUNICATORS)
        keep(comm, c);
    else
        memory_free(c.member);
    pthread_mutex_unlock(&lock);
    quiet_end(&q);
}

void communicators_begin(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    define(MPI_COMM_WORLD, COMMUNICATOR_NONE, (uint32_t[]){0, 0});
    define(MPI_COMM_SELF, COMMUNICATOR_NONE, (uint32_t[]){(uint32_t)rank, 1});
    n_named = 2;
}

uint32_t communicator_id(MPI_Comm comm)
{
    const struct live *found;
    uint32_t id;

    if (comm == MPI_COMM_WORLD)
        return COMMUNICATOR_WORLD;
    if (comm == MPI_COMM_SELF)
        return COMMUNICATOR_SELF;
    pthread_mutex_lock(&lock);
    found = *find(comm);
    id = found ? found->id : COMMUNICATOR_NONE;
    pthread_mutex_unlock(&lock);
    return id;
}

bool communicator_is_alone(MPI_Comm comm)
{
    int size = 0;

    return communicator_id(comm) != COMMUNICATOR_NONE &&
           PMPI_Comm_size(comm, &size) == MPI_SUCCESS && size == 1;
}

void communicator_add(MPI_Comm comm, MPI_Comm parent)
{
    uint32_t pair[2] = {0, 0};
    int is_inter = 0, rank, world_rank;

    if (comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (rank == 0) {
        pthread_mutex_lock(&lock);
        pair[0] = (uint32_t)world_rank;
        pair[1] = n_named++;
        pthread_mutex_unlock(&lock);
    }
    PMPI_Bcast(pair, 2, MPI_UINT32_T, 0, comm);
    define(comm, communicator_id(parent), pair);
}

void communicator_remove(MPI_Comm comm)
{
    char *name = name_of(comm);
    struct live **at, *found;

    pthread_mutex_lock(&lock);
    at = find(comm);
    found = *at;
    if (found) {
        name_it(found->id, name);
        *at = found->next;
    }
    pthread_mutex_unlock(&lock);
    memory_free(name);
    memory_free(found);
}

uint32_t communicators_from(uint32_t first,
                            void (*each)(void *ctx, const struct communicator *c), void *ctx)
{
    uint32_t n;

    pthread_mutex_lock(&lock);
    n = n_known;
    for (uint32_t i = first; i < n; i++)
        each(ctx, &known[i]);
    pthread_mutex_unlock(&lock);
    return n;
}

EXPORTED int MPI_Comm_set_name(MPI_Comm comm, const char *name)
{
    int rc = PMPI_Comm_set_name(comm, name);
    const struct live *found;
    struct quiet q;

    if (rc != MPI_SUCCESS || name == NULL)
        return rc;
    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    found = *find(comm);
    if (found)
        name_it(found->id, name);
    pthread_mutex_unlock(&lock);
    quiet_end(&q);
    return rc;
}

/* Of those that were named in Fortran. */
void communicators_end(void)
{
    for (size_t i = 0; i < N_BUCKETS; i++)
        for (const struct live *l = bucket[i]; l; l = l->next)
            if (known[l->id].name == NULL) {
                char *name = name_of(l->handle);

                name_it(l->id, name);
                memory_free(name);
            }
}
