/*
 * handle_map -- what is kept of the windows and files that a program has open, by their
 * handles. Thread-safe; what is found stays until whoever made it takes it out again, which a
 * program does when nobody uses the handle any more.
 */
#ifndef SNAG_TRACER_HANDLE_MAP_H
#define SNAG_TRACER_HANDLE_MAP_H

#include <pthread.h>
#include <stdint.h>

#define HANDLE_BUCKETS 256u /* a power of two */

struct handle_map {
    pthread_mutex_t lock;
    struct handle_entry *bucket[HANDLE_BUCKETS];
};

#define HANDLE_MAP_EMPTY                                                                       \
    {                                                                                          \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                      \
    }

/* handle_map_put -- an entry that is there already is replaced: its handle was freed unseen. */
void handle_map_put(struct handle_map *map, uint64_t handle, void *value);

/* handle_map_get, handle_map_take -- NULL if there is none; the latter forgets it. */
void *handle_map_get(struct handle_map *map, uint64_t handle);
void *handle_map_take(struct handle_map *map, uint64_t handle);

#endif
