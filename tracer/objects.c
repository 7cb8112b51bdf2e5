/* What is known by its bytes is looked for among those that are there, from the last one on: a
 * program that goes from epoch to epoch names the same few groups. The lock guards all of it.
 */
#include "objects.h"

#include "communicators.h"
#include "complain.h"
#include "memory.h"
#include "quiet.h"
#include "state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OBJECTS 16384 /* a program may make and free windows for ever */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *known;
static uint32_t n_known;
static size_t cap_known;
static struct {
    uint32_t *n; /* [cap] windows or handles made, by communicator */
    uint32_t cap;
} made[N_OBJECT_KINDS];

static void enter(struct quiet *q)
{
    quiet_begin(q);
    pthread_mutex_lock(&lock);
}

static void leave(const struct quiet *q)
{
    pthread_mutex_unlock(&lock);
    quiet_end(q);
}

/* Whether two are known by the same, their numbers being of the same table. */
static bool object_is_same(const struct object *a, const struct object *b)
{
    return a->kind == b->kind && a->communicator == b->communicator && a->number == b->number &&
           a->file == b->file && a->n == b->n &&
           (a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0);
}

/* With the lock held. */
static uint32_t add(struct object o)
{
    void *copy;

    if (n_known == MAX_OBJECTS)
        return OBJECT_NONE;
    if (!memory_grow(&known, n_known, cap_known))
        return OBJECT_NONE;
    if (n_known + 1 == MAX_OBJECTS)
        complain("more than %d windows, files, and groups of windows: of further ones only the "
                 "calls are recorded",
                 MAX_OBJECTS);
    if (o.n > 0) {
        copy = memory_resize(NULL, o.n, 1);
        if (copy == NULL)
            return OBJECT_NONE;
        memcpy(copy, o.bytes, o.n);
        o.bytes = copy;
    }
    known[n_known] = o;
    state_journal(
        &(struct definition){.kind = JOURNAL_OBJECT,
                             .number = (uint64_t[]){o.kind, o.communicator, o.number, o.file},
                             .n_numbers = 4,
                             .data = o.bytes,
                             .bytes = o.n});
    return n_known++;
}

/* With the lock held. */
static uint32_t find_or_add(struct object o)
{
    for (uint32_t i = n_known; i-- > 0;)
        if (object_is_same(&known[i], &o))
            return i;
    return add(o);
}

/* With the lock held: how many there were before in the communicator. */
static uint32_t count(enum object_kind kind, uint32_t communicator)
{
    uint32_t **n = &made[kind].n, cap = made[kind].cap, more = 2 * communicator + 16;

    if (communicator >= cap) {
        uint32_t *grown = memory_resize(*n, more, sizeof **n);

        if (grown == NULL)
            return 0;
        memset(grown + cap, 0, (more - cap) * sizeof *grown);
        *n = grown;
        made[kind].cap = more;
    }
    return (*n)[communicator]++;
}

uint32_t object_window(uint32_t communicator)
{
    struct object o = {
        .kind = OBJECT_WINDOW, .communicator = communicator, .file = OBJECT_NONE};
    struct quiet q;
    uint32_t id;

    if (communicator == COMMUNICATOR_NONE)
        return OBJECT_NONE;
    enter(&q);
    o.number = count(OBJECT_WINDOW, communicator);
    id = add(o);
    leave(&q);
    return id;
}

/* With the lock held. */
static uint32_t file(const char *name)
{
    return find_or_add((struct object){.kind = OBJECT_FILE,
                                       .communicator = COMMUNICATOR_NONE,
                                       .file = OBJECT_NONE,
                                       .n = (uint32_t)strlen(name) + 1,
                                       .bytes = (void *)(uintptr_t)name});
}

uint32_t object_handle(uint32_t communicator, const char *file_name)
{
    struct object o = {.kind = OBJECT_HANDLE, .communicator = communicator};
    uint32_t id = OBJECT_NONE;
    struct quiet q;

    if (communicator == COMMUNICATOR_NONE)
        return OBJECT_NONE;
    enter(&q);
    o.number = count(OBJECT_HANDLE, communicator);
    o.file = file(file_name);
    if (o.file != OBJECT_NONE)
        id = add(o);
    leave(&q);
    return id;
}

uint32_t object_group(const uint32_t *member, uint32_t n)
{
    struct quiet q;
    uint32_t id;

    enter(&q);
    id = find_or_add((struct object){.kind = OBJECT_GROUP,
                                     .communicator = COMMUNICATOR_NONE,
                                     .file = OBJECT_NONE,
                                     .n = n * (uint32_t)sizeof *member,
                                     .bytes = (void *)(uintptr_t)member});
    leave(&q);
    return id;
}

uint32_t object_file(const char *name)
{
    struct quiet q;
    uint32_t id;

    enter(&q);
    id = file(name);
    leave(&q);
    return id;
}

uint32_t objects_count(void)
{
    uint32_t n;

    pthread_mutex_lock(&lock);
    n = n_known;
    pthread_mutex_unlock(&lock);
    return n;
}

void objects_each(uint32_t begin, uint32_t end, void (*each)(void *ctx, const struct object *o),
                  void *ctx)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = begin; i < end; i++)
        each(ctx, &known[i]);
    pthread_mutex_unlock(&lock);
}
