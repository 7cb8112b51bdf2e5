/*
 * event_ring -- short texts told to any number of readers, each at its own pace.
 *
 * A reader holds the number of the next text it has not seen. When there is none it leaves a
 * way to be woken and goes away. Who is too slow misses the oldest texts, never the newest.
 */
#ifndef SNAG_BASE_EVENT_RING_H
#define SNAG_BASE_EVENT_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_RING_KEPT 64 /* texts */
#define EVENT_RING_TEXT_SIZE 256

/* How a reader is woken; called once, from the thread that tells, closes or waits. */
typedef void event_ring_wake_fn(void *ctx);

struct event_ring {
    pthread_mutex_t lock; /* guards all below; wake functions are called under it */
    char text[EVENT_RING_KEPT][EVENT_RING_TEXT_SIZE];
    uint64_t n;     /* told so far; the last EVENT_RING_KEPT are kept */
    void **waiting; /* [n_waiting] */
    size_t n_waiting, cap;
    event_ring_wake_fn *wake;
    bool is_closed;
};

void event_ring_init(struct event_ring *event_ring, event_ring_wake_fn *wake);
void event_ring_release(struct event_ring *event_ring);

/* event_ring_tell -- one text for all; what is longer than EVENT_RING_TEXT_SIZE is cut. */
void event_ring_tell(struct event_ring *event_ring, const char *text);

/* event_ring_now -- the number of the text that is told next. */
uint64_t event_ring_now(struct event_ring *event_ring);

/*
 * event_ring_read -- the texts from number *next on, as many as fit.
 *   next  in and out
 *   out   (size) size >= EVENT_RING_TEXT_SIZE
 * Returns their length, 0 when there is none yet, -1 when the ring is closed.
 */
int event_ring_read(struct event_ring *event_ring, uint64_t *next, char *out, size_t size);

/* event_ring_wait -- wake ctx once when text number next is told, or the ring closed; maybe at
 * once.
 */
void event_ring_wait(struct event_ring *event_ring, uint64_t next, void *ctx);

/* event_ring_leave -- ctx is not to be woken any more. */
void event_ring_leave(struct event_ring *event_ring, void *ctx);

/* event_ring_close -- wake all; from now on event_ring_read says -1. */
void event_ring_close(struct event_ring *event_ring);

#endif
