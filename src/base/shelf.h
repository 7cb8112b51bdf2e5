/*
 * shelf -- values that threads share: made by the first who asks, while others who ask for one
 * wait, and replaced when they no longer hold. A value never changes once it was made, so it is
 * read without a lock; it goes when the shelf has a newer one and the last user gave it back.
 *
 *     struct table {
 *         struct shared shared; -- first
 *         double *score;
 *     };
 */
#ifndef SNAG_BASE_SHELF_H
#define SNAG_BASE_SHELF_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* What a value begins with. Only looked at under the lock of its shelf. */
struct shared {
    uint32_t n_users; /* the shelf is one; 1 when it is made */
    void (*free)(struct shared *value);
};

struct shelf {
    pthread_mutex_t
        lock; /* guards all below, n_users; no other of our locks is taken under it */
    struct shelf_slot {
        int64_t key;
        struct shared *value; /* the newest */
    } * slot;                 /* [n] */
    size_t n, cap;
};

/*
 * shelf_renew_fn -- what holds now: old itself, or a new one. Runs under the lock.
 *   old  what is on the shelf, or NULL
 * Returns 0 or ERR_*.
 */
typedef int shelf_renew_fn(struct shared *old, void *ctx, struct shared **out);

void shelf_init(struct shelf *shelf);

/* shelf_release -- when everybody has given back. */
void shelf_release(struct shelf *shelf);

/*
 * shelf_take -- the value of this key that holds now; give it back.
 * Returns 0 or what renew does. Thread-safe.
 */
int shelf_take(struct shelf *shelf, int64_t key, shelf_renew_fn *renew, void *ctx,
               struct shared **out);

/* shelf_give_back -- no longer used by the caller; NULL is nobody's. Thread-safe. */
void shelf_give_back(struct shelf *shelf, struct shared *value);

/* shared_keep, shared_drop -- one user more, one less: for values that are part of others,
 * where these are made and freed. */
void shared_keep(struct shared *value);
void shared_drop(struct shared *value);

#endif
