/* Making is under the lock: it is what the others would wait for anyway. */
#include "base/shared_cache.h"

#include "base/mem.h"

#include <stdlib.h>

void shared_keep(struct shared *value)
{
    value->n_users++;
}

void shared_drop(struct shared *value)
{
    if (value && --value->n_users == 0)
        value->free(value);
}

void shared_cache_init(struct shared_cache *cache)
{
    *cache = (struct shared_cache){.n = 0};
    pthread_mutex_init(&cache->lock, NULL);
}

void shared_cache_release(struct shared_cache *cache)
{
    for (size_t i = 0; i < cache->n; i++)
        shared_drop(cache->slot[i].value);
    free(cache->slot);
    cache->slot = NULL;
    cache->n = cache->cap = 0;
    pthread_mutex_destroy(&cache->lock);
}

static struct shared_cache_slot *find(const struct shared_cache *cache, int64_t key)
{
    for (size_t i = 0; i < cache->n; i++)
        if (cache->slot[i].key == key)
            return &cache->slot[i];
    return NULL;
}

static void place(struct shared_cache *cache, int64_t key, struct shared *value)
{
    struct shared_cache_slot *slot = find(cache, key);

    if (slot == NULL) {
        slot = mem_push(&cache->slot, &cache->n, &cache->cap);
        *slot = (struct shared_cache_slot){.key = key};
    }
    if (slot->value != value) {
        shared_drop(slot->value);
        slot->value = value;
    }
}

int shared_cache_take(struct shared_cache *cache, int64_t key, shared_cache_renew_fn *renew,
                      void *ctx, struct shared **out)
{
    struct shared_cache_slot *slot;
    int rc;

    pthread_mutex_lock(&cache->lock);
    slot = find(cache, key);
    rc = renew(slot ? slot->value : NULL, ctx, out);
    if (rc == 0) {
        place(cache, key, *out);
        shared_keep(*out);
    }
    pthread_mutex_unlock(&cache->lock);
    return rc;
}

void shared_cache_give_back(struct shared_cache *cache, struct shared *value)
{
    pthread_mutex_lock(&cache->lock);
    shared_drop(value);
    pthread_mutex_unlock(&cache->lock);
}
