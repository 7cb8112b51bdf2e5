/* The lock guards the list, whose order is that of the journal. */
#include "builds.h"

#include "loaded.h"
#include "memory.h"
#include "state.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct build {
    uintptr_t loaded_to;
    char *path;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct build *builds;
static size_t n_builds, cap_builds;

/* What the program's file is called is of use when it has ended, too. */
static const char *lasting_path(const char *path, char real[PATH_MAX])
{
    ssize_t n = strncmp(path, "/proc/self/", 11) == 0 ? readlink(path, real, PATH_MAX - 1) : -1;

    if (n < 0)
        return path;
    real[n] = '\0';
    return real;
}

/* With the lock held, and the state open: its number; UINT32_MAX if there is no room. */
static uint32_t number_of(const struct loaded *l)
{
    static char real[PATH_MAX]; /* stacks of programs may be small */
    const char *text[2];

    for (uint32_t i = 0; i < n_builds; i++)
        if (builds[i].loaded_to == l->to && strcmp(builds[i].path, l->path) == 0)
            return i;
    text[0] = lasting_path(l->path, real);
    text[1] = l->build_id;
    if (!memory_grow(&builds, n_builds, cap_builds) ||
        state_journal(&(struct definition){.kind = JOURNAL_CODE, .text = text, .n_texts = 2}) ==
            NULL)
        return UINT32_MAX;
    builds[n_builds] = (struct build){l->to, memory_copy(l->path)};
    return (uint32_t)n_builds++;
}

bool build_address(uintptr_t code, struct build_address *place)
{
    struct loaded l;

    if (!loaded_at(code, &l))
        return false;
    place->address = code - l.to;
    pthread_mutex_lock(&lock);
    place->build = number_of(&l);
    pthread_mutex_unlock(&lock);
    return place->build != UINT32_MAX;
}

static void look_at(void *ctx, const struct loaded *l)
{
    (void)ctx;
    number_of(l);
}

void builds_journal(void)
{
    pthread_mutex_lock(&lock);
    loaded_each(look_at, NULL);
    pthread_mutex_unlock(&lock);
}
