/*
 * latest_value -- the newest of something, for whoever looks: one thread writes bytes on it,
 * others take copies.
 */
#ifndef SNAG_BASE_LATEST_VALUE_H
#define SNAG_BASE_LATEST_VALUE_H

#include <pthread.h>
#include <stddef.h>

struct latest_value {
    pthread_mutex_t lock; /* guards all below; nothing else is locked under it */
    void *data;
    size_t size, cap;
};

void latest_value_init(struct latest_value *latest_value);
void latest_value_release(struct latest_value *latest_value);

/* latest_value_write -- replace what is on it; size 0 wipes it. */
void latest_value_write(struct latest_value *latest_value, const void *data, size_t size);

/* latest_value_copy -- what is on it, NULL for nothing. Free with free(). */
void *latest_value_copy(struct latest_value *latest_value, size_t *size);

#endif
