#include "base/queue.h"

#include "base/mem.h"
#include "base/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

void queue_init(struct queue *queue, size_t cap)
{
    *queue = (struct queue){.cap = cap, .item = mem_alloc(cap, sizeof *queue->item)};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    pthread_cond_init(&queue->emptied, NULL);
}

void queue_release(struct queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->filled);
    pthread_cond_destroy(&queue->emptied);
    free(queue->item);
    queue->item = NULL;
}

/* Under the lock. */
static bool put(struct queue *queue, void *item)
{
    if (queue->is_closed || queue->n == queue->cap)
        return false;
    queue->item[(queue->first + queue->n++) % queue->cap] = item;
    queue->n_put++;
    pthread_cond_signal(&queue->filled);
    return true;
}

/* Under the lock, of a queue that is not empty. */
static void *take(struct queue *queue)
{
    void *item = queue->item[queue->first];

    queue->first = (queue->first + 1) % queue->cap;
    queue->n--;
    pthread_cond_signal(&queue->emptied);
    return item;
}

bool queue_put(struct queue *queue, void *item)
{
    bool is_in;

    pthread_mutex_lock(&queue->lock);
    is_in = put(queue, item);
    pthread_mutex_unlock(&queue->lock);
    return is_in;
}

bool queue_put_within(struct queue *queue, void *item, unsigned wait_ms)
{
    struct timespec until = clock_after_ms(CLOCK_REALTIME, wait_ms);
    bool is_in;

    pthread_mutex_lock(&queue->lock);
    while (queue->n == queue->cap && !queue->is_closed)
        if (pthread_cond_timedwait(&queue->emptied, &queue->lock, &until) == ETIMEDOUT)
            break;
    is_in = put(queue, item);
    pthread_mutex_unlock(&queue->lock);
    return is_in;
}

/* Under the lock. */
static size_t take_some(struct queue *queue, void **item, size_t most)
{
    size_t n = 0;

    while (queue->n > 0 && n < most)
        item[n++] = take(queue);
    return n;
}

size_t queue_take_some(struct queue *queue, void **item, size_t most)
{
    size_t n;

    pthread_mutex_lock(&queue->lock);
    while (queue->n == 0 && !queue->is_closed)
        pthread_cond_wait(&queue->filled, &queue->lock);
    n = take_some(queue, item, most);
    pthread_mutex_unlock(&queue->lock);
    return n;
}

size_t queue_take_ready(struct queue *queue, void **item, size_t most)
{
    size_t n;

    pthread_mutex_lock(&queue->lock);
    n = take_some(queue, item, most);
    pthread_mutex_unlock(&queue->lock);
    return n;
}

void *queue_take(struct queue *queue)
{
    void *item = NULL;

    return queue_take_some(queue, &item, 1) ? item : NULL;
}

uint64_t queue_total(struct queue *queue)
{
    uint64_t n;

    pthread_mutex_lock(&queue->lock);
    n = queue->n_put;
    pthread_mutex_unlock(&queue->lock);
    return n;
}

bool queue_is_closed(struct queue *queue)
{
    bool is_closed;

    pthread_mutex_lock(&queue->lock);
    is_closed = queue->is_closed;
    pthread_mutex_unlock(&queue->lock);
    return is_closed;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_cond_broadcast(&queue->emptied);
    pthread_mutex_unlock(&queue->lock);
}
