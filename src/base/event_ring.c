/* A ring of texts, and a list of those who wait. */
#include "base/event_ring.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void event_ring_init(struct event_ring *event_ring, event_ring_wake_fn *wake)
{
    *event_ring = (struct event_ring){.wake = wake};
    pthread_mutex_init(&event_ring->lock, NULL);
}

void event_ring_release(struct event_ring *event_ring)
{
    pthread_mutex_destroy(&event_ring->lock);
    free(event_ring->waiting);
    event_ring->waiting = NULL;
}

static void wake_all(struct event_ring *event_ring)
{
    for (size_t i = 0; i < event_ring->n_waiting; i++)
        event_ring->wake(event_ring->waiting[i]);
    event_ring->n_waiting = 0;
}

void event_ring_tell(struct event_ring *event_ring, const char *text)
{
    pthread_mutex_lock(&event_ring->lock);
    snprintf(event_ring->text[event_ring->n++ % EVENT_RING_KEPT], EVENT_RING_TEXT_SIZE, "%s",
             text);
    wake_all(event_ring);
    pthread_mutex_unlock(&event_ring->lock);
}

uint64_t event_ring_now(struct event_ring *event_ring)
{
    uint64_t n;

    pthread_mutex_lock(&event_ring->lock);
    n = event_ring->n;
    pthread_mutex_unlock(&event_ring->lock);
    return n;
}

static int copy_texts(const struct event_ring *event_ring, uint64_t *next, char *out,
                      size_t size)
{
    size_t n = 0;

    if (*next + EVENT_RING_KEPT < event_ring->n)
        *next = event_ring->n - EVENT_RING_KEPT;
    for (; *next < event_ring->n; (*next)++) {
        const char *text = event_ring->text[*next % EVENT_RING_KEPT];
        size_t length = strlen(text);

        if (n + length > size)
            break;
        memcpy(out + n, text, length);
        n += length;
    }
    return (int)n;
}

int event_ring_read(struct event_ring *event_ring, uint64_t *next, char *out, size_t size)
{
    int n = -1;

    pthread_mutex_lock(&event_ring->lock);
    if (!event_ring->is_closed)
        n = copy_texts(event_ring, next, out, size);
    pthread_mutex_unlock(&event_ring->lock);
    return n;
}

void event_ring_wait(struct event_ring *event_ring, uint64_t next, void *ctx)
{
    pthread_mutex_lock(&event_ring->lock);
    if (next < event_ring->n || event_ring->is_closed) {
        event_ring->wake(ctx);
    } else {
        *mem_push(&event_ring->waiting, &event_ring->n_waiting, &event_ring->cap) = ctx;
    }
    pthread_mutex_unlock(&event_ring->lock);
}

void event_ring_leave(struct event_ring *event_ring, void *ctx)
{
    size_t n = 0;

    pthread_mutex_lock(&event_ring->lock);
    for (size_t i = 0; i < event_ring->n_waiting; i++)
        if (event_ring->waiting[i] != ctx)
            event_ring->waiting[n++] = event_ring->waiting[i];
    event_ring->n_waiting = n;
    pthread_mutex_unlock(&event_ring->lock);
}

void event_ring_close(struct event_ring *event_ring)
{
    pthread_mutex_lock(&event_ring->lock);
    event_ring->is_closed = true;
    wake_all(event_ring);
    pthread_mutex_unlock(&event_ring->lock);
}
