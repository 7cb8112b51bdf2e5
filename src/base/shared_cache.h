/*
 * shared_cache -- values that threads share: made by the first who asks, while others who ask
 * for one wait, and replaced when they no longer hold. A value never changes once it was made,
 * so it is read without a lock; it goes when the cache has a newer one and the last user gave
 * it back.
 *
 *     struct table {
 *         struct shared shared; -- first
 *         double *score;
 *     };
 */
#ifndef SNAG_BASE_SHARED_CACHE_H
#define SNAG_BASE_SHARED_CACHE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* What a value begins with. Only looked at under the lock of its cache. */
struct shared {
    uint32_t n_users; /* the cache is one; 1 when it is made */
    void (*free)(struct shared *value);
};

struct shared_cache {
    pthread_mutex_t
        lock; /* guards all below, n_users; no other of our locks is taken under it */
    struct shared_cache_slot {
        int64_t key;
        struct shared *value; /* the newest */
    } * slot;                 /* [n] */
    size_t n, cap;
};

/*
 * shared_cache_renew_fn -- what holds now: old itself, or a new one. Runs under the lock.
 *   old  what is in the cache, or NULL
 * Returns 0 or ERR_*.
 */
typedef int shared_cache_renew_fn(struct shared *old, void *ctx, struct shared **out);

void shared_cache_init(struct shared_cache *cache);

/* shared_cache_release -- when everybody has given back. */
void shared_cache_release(struct shared_cache *cache);

/*
 * shared_cache_take -- the value of this key that holds now; give it back.
 * Returns 0 or what renew does. Thread-safe.
 */
int shared_cache_take(struct shared_cache *cache, int64_t key, shared_cache_renew_fn *renew,
                      void *ctx, struct shared **out);

/* shared_cache_give_back -- no longer used by the caller; NULL is nobody's. Thread-safe. */
void shared_cache_give_back(struct shared_cache *cache, struct shared *value);

/* shared_keep, shared_drop -- one user more, one less: for values that are part of others,
 * where these are made and freed. */
void shared_keep(struct shared *value);
void shared_drop(struct shared *value);

#endif
