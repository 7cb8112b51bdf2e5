#include "base/queue.h"

#include "base/mem.h"

#include <stdlib.h>

void queue_init(struct queue *queue, size_t cap)
{
    *queue = (struct queue){.cap = cap, .item = mem_alloc(cap, sizeof *queue->item)};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
}

void queue_release(struct queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->filled);
    free(queue->item);
    queue->item = NULL;
}

bool queue_put(struct queue *queue, void *item)
{
    bool is_in;

    pthread_mutex_lock(&queue->lock);
    is_in = !queue->is_closed && queue->n < queue->cap;
    if (is_in) {
        queue->item[(queue->first + queue->n++) % queue->cap] = item;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&queue->lock);
    return is_in;
}

void *queue_take(struct queue *queue)
{
    void *item = NULL;

    pthread_mutex_lock(&queue->lock);
    while (queue->n == 0 && !queue->is_closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    if (queue->n > 0) {
        item = queue->item[queue->first];
        queue->first = (queue->first + 1) % queue->cap;
        queue->n--;
    }
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}
