/* Making is under the lock: it is what the others would wait for anyway. */
#include "base/shelf.h"

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

void shelf_init(struct shelf *shelf)
{
    *shelf = (struct shelf){.n = 0};
    pthread_mutex_init(&shelf->lock, NULL);
}

void shelf_release(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->n; i++)
        shared_drop(shelf->slot[i].value);
    free(shelf->slot);
    shelf->slot = NULL;
    shelf->n = shelf->cap = 0;
    pthread_mutex_destroy(&shelf->lock);
}

static struct shelf_slot *find(const struct shelf *shelf, int64_t key)
{
    for (size_t i = 0; i < shelf->n; i++)
        if (shelf->slot[i].key == key)
            return &shelf->slot[i];
    return NULL;
}

static void place(struct shelf *shelf, int64_t key, struct shared *value)
{
    struct shelf_slot *slot = find(shelf, key);

    if (slot == NULL) {
        mem_grow(&shelf->slot, &shelf->cap, shelf->n + 1, sizeof *shelf->slot);
        slot = &shelf->slot[shelf->n++];
        *slot = (struct shelf_slot){.key = key};
    }
    if (slot->value != value) {
        shared_drop(slot->value);
        slot->value = value;
    }
}

int shelf_take(struct shelf *shelf, int64_t key, shelf_renew_fn *renew, void *ctx,
               struct shared **out)
{
    struct shelf_slot *slot;
    int rc;

    pthread_mutex_lock(&shelf->lock);
    slot = find(shelf, key);
    rc = renew(slot ? slot->value : NULL, ctx, out);
    if (rc == 0) {
        place(shelf, key, *out);
        shared_keep(*out);
    }
    pthread_mutex_unlock(&shelf->lock);
    return rc;
}

void shelf_give_back(struct shelf *shelf, struct shared *value)
{
    pthread_mutex_lock(&shelf->lock);
    shared_drop(value);
    pthread_mutex_unlock(&shelf->lock);
}
