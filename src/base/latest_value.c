#include "base/latest_value.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void latest_value_init(struct latest_value *latest_value)
{
    *latest_value = (struct latest_value){.data = NULL};
    pthread_mutex_init(&latest_value->lock, NULL);
}

void latest_value_release(struct latest_value *latest_value)
{
    pthread_mutex_destroy(&latest_value->lock);
    free(latest_value->data);
    latest_value->data = NULL;
}

void latest_value_write(struct latest_value *latest_value, const void *data, size_t size)
{
    pthread_mutex_lock(&latest_value->lock);
    mem_grow(&latest_value->data, &latest_value->cap, size);
    if (size > 0)
        memcpy(latest_value->data, data, size);
    latest_value->size = size;
    pthread_mutex_unlock(&latest_value->lock);
}

void *latest_value_copy(struct latest_value *latest_value, size_t *size)
{
    void *copy = NULL;

    pthread_mutex_lock(&latest_value->lock);
    *size = latest_value->size;
    if (latest_value->size > 0) {
        copy = mem_alloc(latest_value->size, 1);
        memcpy(copy, latest_value->data, latest_value->size);
    }
    pthread_mutex_unlock(&latest_value->lock);
    return copy;
}
