/*
 * queue -- work handed from thread to thread: bounded, in order, nothing is lost.
 *
 * Who puts something in forgets it; who takes it out owns it.
 */
#ifndef SNAG_BASE_QUEUE_H
#define SNAG_BASE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct queue {
    pthread_mutex_t lock; /* guards all below; nothing else is locked under it */
    pthread_cond_t filled;
    void **item; /* [cap] a ring: n items from `first` on */
    size_t cap, first, n;
    bool is_closed;
};

void queue_init(struct queue *queue, size_t cap);

/* queue_release -- no thread uses it any more, and it is empty. */
void queue_release(struct queue *queue);

/* queue_put -- never waits. Returns false when the queue is full or closed. */
bool queue_put(struct queue *queue, void *item);

/* queue_take -- wait for the next item; NULL when the queue is closed and empty. */
void *queue_take(struct queue *queue);

/* queue_close -- nothing more goes in; what is in it can still be taken. */
void queue_close(struct queue *queue);

#endif
