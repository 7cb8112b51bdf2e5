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
#include <stdint.h>

struct queue {
    pthread_mutex_t lock; /* guards all below; nothing else is locked under it */
    pthread_cond_t filled, emptied;
    void **item; /* [cap] a ring: n items from `first` on */
    size_t cap, first, n;
    uint64_t n_put; /* ever */
    bool is_closed;
};

void queue_init(struct queue *queue, size_t cap);

/* queue_release -- no thread uses it any more, and it is empty. */
void queue_release(struct queue *queue);

/* queue_put -- never waits. Returns false when the queue is full or closed. */
bool queue_put(struct queue *queue, void *item);

/* queue_put_within -- as queue_put, but waits up to wait_ms for room. */
bool queue_put_within(struct queue *queue, void *item, unsigned wait_ms);

/* queue_take -- wait for the next item; NULL when the queue is closed and empty. */
void *queue_take(struct queue *queue);

/*
 * queue_take_some -- wait for the next item, then take all there are, `most` (>= 1) at most.
 * Returns how many; 0 when the queue is closed and empty.
 */
size_t queue_take_some(struct queue *queue, void **item, size_t most);

/* queue_take_ready -- as queue_take_some, but never waits: 0 also when there is none now. */
size_t queue_take_ready(struct queue *queue, void **item, size_t most);

/* queue_total -- how many items were ever put; they come out in that order. */
uint64_t queue_total(struct queue *queue);

/* queue_is_closed -- queue_close was called; there may still be items. */
bool queue_is_closed(struct queue *queue);

/* queue_close -- nothing more goes in; what is in it can still be taken. */
void queue_close(struct queue *queue);

#endif
