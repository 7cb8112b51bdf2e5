/*
 * Two hash tables over the same entries: by handle and variable, which nearly always finds the
 * one that is meant, and by handle alone, each bucket a queue with the oldest first. They grow
 * together. The lock guards all of it; entries that are free are kept.
 */
#include "open_requests.h"

#include "memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#define FIRST_BUCKETS 1024u /* a power of two */

struct request_entry {
    struct open_request request;
    struct request_entry
        *next_exact; /* same bucket of handle and variable; next that is free */
    struct request_entry *older, *newer; /* same bucket of the handle */
};

struct request_queue {
    struct request_entry *oldest, *newest;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct request_entry **exact, *spare; /* [n_buckets] */
static struct request_queue *queues;         /* [n_buckets] */
static size_t n_buckets, n_entries;
static atomic_uint_fast64_t last_id;

uint64_t request_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

static size_t bucket(uint64_t bits)
{
    return (size_t)(bits * 0x9e3779b97f4a7c15u >> 32) & (n_buckets - 1);
}

static struct request_entry **exact_of(struct handle_key key)
{
    return &exact[bucket(key.bits ^ (uint64_t)(uintptr_t)key.where << 1)];
}

static struct request_queue *queue_of(struct handle_key key)
{
    return &queues[bucket(key.bits)];
}

static void link_entry(struct request_entry *e)
{
    struct request_entry **first = exact_of(e->request.key);
    struct request_queue *q = queue_of(e->request.key);

    e->next_exact = *first;
    *first = e;
    e->older = q->newest;
    e->newer = NULL;
    *(q->newest ? &q->newest->newer : &q->oldest) = e;
    q->newest = e;
}

static void unlink_entry(struct request_entry *e)
{
    struct request_entry **at = exact_of(e->request.key);
    struct request_queue *q = queue_of(e->request.key);

    while (*at != e)
        at = &(*at)->next_exact;
    *at = e->next_exact;
    *(e->older ? &e->older->newer : &q->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &q->newest) = e->older;
}

/* Without memory for more the queues get longer. */
static void grow(void)
{
    struct request_queue *old = queues;
    size_t n_old = n_buckets, n = n_old ? 4 * n_old : FIRST_BUCKETS;
    struct request_entry **more_exact = memory_zeroed(n, sizeof *more_exact);
    struct request_queue *more_queues = memory_zeroed(n, sizeof *more_queues);

    if (more_exact == NULL || more_queues == NULL) {
        memory_free(more_exact);
        memory_free(more_queues);
        return;
    }
    memory_free(exact);
    exact = more_exact;
    queues = more_queues;
    n_buckets = n;
    for (size_t i = 0; i < n_old; i++)
        for (struct request_entry *e = old[i].oldest, *newer; e; e = newer) {
            newer = e->newer;
            link_entry(e);
        }
    memory_free(old);
}

void request_put(const struct open_request *r)
{
    struct request_entry *e;

    pthread_mutex_lock(&lock);
    if (n_entries >= n_buckets)
        grow();
    e = spare;
    if (e)
        spare = e->next_exact;
    else
        e = memory_resize(NULL, 1, sizeof *e);
    e->request = *r;
    link_entry(e);
    n_entries++;
    pthread_mutex_unlock(&lock);
}

/* With the lock held. */
static struct request_entry *find(struct handle_key key)
{
    struct request_entry *e;

    if (n_entries == 0)
        return NULL;
    for (e = *exact_of(key); e; e = e->next_exact)
        if (e->request.key.bits == key.bits && e->request.key.where == key.where)
            return e;
    for (e = queue_of(key)->oldest; e && e->request.key.bits != key.bits; e = e->newer)
        ;
    return e;
}

bool request_take(struct handle_key key, struct open_request *r)
{
    struct request_entry *e;

    if (key.bits == request_bits(MPI_REQUEST_NULL))
        return false;
    pthread_mutex_lock(&lock);
    e = find(key);
    if (e) {
        *r = e->request;
        unlink_entry(e);
        e->next_exact = spare;
        spare = e;
        n_entries--;
    }
    pthread_mutex_unlock(&lock);
    return e != NULL;
}
