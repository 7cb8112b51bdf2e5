/* A hash table whose buckets are lists: there are few windows and files at a time. */
#include "handle_map.h"

#include "memory.h"

#include <stdlib.h>
#include <stdatomic.h>

/* What the thread looked for last: programs go on with the same handle. No map has changed
 * since if none has the number. */
static _Thread_local struct {
    const struct handle_map *map;
    uint64_t handle, change;
    void *value;
} last;
static atomic_uint_fast64_t n_changes;

struct handle_entry {
    uint64_t handle;
    void *value;
    struct handle_entry *next;
};

/* Where the handle is, or would be; with the lock held. */
static struct handle_entry **find(struct handle_map *map, uint64_t handle)
{
    struct handle_entry **at =
        &map->bucket[(handle * 0x9e3779b97f4a7c15u >> 40) & (HANDLE_BUCKETS - 1)];

    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

void handle_map_put(struct handle_map *map, uint64_t handle, void *value)
{
    struct handle_entry **at;

    pthread_mutex_lock(&map->lock);
    at = find(map, handle);
    if (*at == NULL) {
        *at = memory_resize(NULL, 1, sizeof **at);
        **at = (struct handle_entry){.handle = handle};
    }
    (*at)->value = value;
    atomic_fetch_add(&n_changes, 1);
    pthread_mutex_unlock(&map->lock);
}

void *handle_map_get(struct handle_map *map, uint64_t handle)
{
    uint64_t change = atomic_load_explicit(&n_changes, memory_order_acquire);
    const struct handle_entry *found;
    void *value;

    if (last.map == map && last.handle == handle && last.change == change)
        return last.value;
    pthread_mutex_lock(&map->lock);
    found = *find(map, handle);
    value = found ? found->value : NULL;
    pthread_mutex_unlock(&map->lock);
    last.map = map;
    last.handle = handle;
    last.change = change;
    last.value = value;
    return value;
}

void *handle_map_take(struct handle_map *map, uint64_t handle)
{
    struct handle_entry **at, *found;
    void *value;

    pthread_mutex_lock(&map->lock);
    at = find(map, handle);
    found = *at;
    value = found ? found->value : NULL;
    if (found)
        *at = found->next;
    atomic_fetch_add(&n_changes, 1);
    pthread_mutex_unlock(&map->lock);
    memory_free(found);
    return value;
}
