/* A ring of texts, and a list of those who wait. */
#include "base/feed.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void feed_init(struct feed *feed, feed_wake_fn *wake)
{
    *feed = (struct feed){.wake = wake};
    pthread_mutex_init(&feed->lock, NULL);
}

void feed_release(struct feed *feed)
{
    pthread_mutex_destroy(&feed->lock);
    free(feed->waiting);
    feed->waiting = NULL;
}

static void wake_all(struct feed *feed)
{
    for (size_t i = 0; i < feed->n_waiting; i++)
        feed->wake(feed->waiting[i]);
    feed->n_waiting = 0;
}

void feed_tell(struct feed *feed, const char *text)
{
    pthread_mutex_lock(&feed->lock);
    snprintf(feed->text[feed->n++ % FEED_KEPT], FEED_TEXT_SIZE, "%s", text);
    wake_all(feed);
    pthread_mutex_unlock(&feed->lock);
}

uint64_t feed_now(struct feed *feed)
{
    uint64_t n;

    pthread_mutex_lock(&feed->lock);
    n = feed->n;
    pthread_mutex_unlock(&feed->lock);
    return n;
}

static int copy_texts(const struct feed *feed, uint64_t *next, char *out, size_t size)
{
    size_t n = 0;

    if (*next + FEED_KEPT < feed->n)
        *next = feed->n - FEED_KEPT;
    for (; *next < feed->n; (*next)++) {
        const char *text = feed->text[*next % FEED_KEPT];
        size_t length = strlen(text);

        if (n + length > size)
            break;
        memcpy(out + n, text, length);
        n += length;
    }
    return (int)n;
}

int feed_read(struct feed *feed, uint64_t *next, char *out, size_t size)
{
    int n = -1;

    pthread_mutex_lock(&feed->lock);
    if (!feed->is_closed)
        n = copy_texts(feed, next, out, size);
    pthread_mutex_unlock(&feed->lock);
    return n;
}

void feed_wait(struct feed *feed, uint64_t next, void *ctx)
{
    pthread_mutex_lock(&feed->lock);
    if (next < feed->n || feed->is_closed) {
        feed->wake(ctx);
    } else {
        mem_grow(&feed->waiting, &feed->cap, feed->n_waiting + 1, sizeof *feed->waiting);
        feed->waiting[feed->n_waiting++] = ctx;
    }
    pthread_mutex_unlock(&feed->lock);
}

void feed_leave(struct feed *feed, void *ctx)
{
    size_t n = 0;

    pthread_mutex_lock(&feed->lock);
    for (size_t i = 0; i < feed->n_waiting; i++)
        if (feed->waiting[i] != ctx)
            feed->waiting[n++] = feed->waiting[i];
    feed->n_waiting = n;
    pthread_mutex_unlock(&feed->lock);
}

void feed_close(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->is_closed = true;
    wake_all(feed);
    pthread_mutex_unlock(&feed->lock);
}
