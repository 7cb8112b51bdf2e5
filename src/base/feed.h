/*
 * feed -- short texts told to any number of readers, each at its own pace.
 *
 * A reader holds the number of the next text it has not seen. When there is none it leaves a
 * way to be woken and goes away. Who is too slow misses the oldest texts, never the newest.
 */
#ifndef SNAG_BASE_FEED_H
#define SNAG_BASE_FEED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_KEPT 64 /* texts */
#define FEED_TEXT_SIZE 256

/* How a reader is woken; called once, from the thread that tells, closes or waits. */
typedef void feed_wake_fn(void *ctx);

struct feed {
    pthread_mutex_t lock; /* guards all below; wake functions are called under it */
    char text[FEED_KEPT][FEED_TEXT_SIZE];
    uint64_t n;     /* told so far; the last FEED_KEPT are kept */
    void **waiting; /* [n_waiting] */
    size_t n_waiting, cap;
    feed_wake_fn *wake;
    bool is_closed;
};

void feed_init(struct feed *feed, feed_wake_fn *wake);
void feed_release(struct feed *feed);

/* feed_tell -- one text for all; what is longer than FEED_TEXT_SIZE is cut. */
void feed_tell(struct feed *feed, const char *text);

/* feed_now -- the number of the text that is told next. */
uint64_t feed_now(struct feed *feed);

/*
 * feed_read -- the texts from number *next on, as many as fit.
 *   next  in and out
 *   out   (size) size >= FEED_TEXT_SIZE
 * Returns their length, 0 when there is none yet, -1 when the feed is closed.
 */
int feed_read(struct feed *feed, uint64_t *next, char *out, size_t size);

/* feed_wait -- wake ctx once when text number next is told, or the feed closed; maybe at once.
 */
void feed_wait(struct feed *feed, uint64_t next, void *ctx);

/* feed_leave -- ctx is not to be woken any more. */
void feed_leave(struct feed *feed, void *ctx);

/* feed_close -- wake all; from now on feed_read says -1. */
void feed_close(struct feed *feed);

#endif
