/*
 * slabs -- small pieces of memory. They are powers of two, cut from slabs; those that were given
 * back wait in a list for each size. Before each piece stands how long it is, as it does before
 * large ones, which are mappings of their own and of their owner.
 *
 * Who uses it holds a lock.
 */
#ifndef SNAG_TRACER_SLABS_H
#define SNAG_TRACER_SLABS_H

#include <stddef.h>

#define SLAB_BYTES ((size_t)256 << 10)
#define SLABS_MIN_SHIFT 5
#define SLABS_MAX_SHIFT 16 /* pieces of up to 64 KiB, with their heads */
#define SLABS_MAX_BYTES ((size_t)1 << SLABS_MAX_SHIFT)

/* 16 bytes, so that what comes after it is aligned for anything. */
struct piece {
    size_t bytes; /* with this */
    struct piece *next_free;
};

struct slabs {
    void *(*map)(size_t bytes); /* a new slab, or NULL */
    struct piece *spare[SLABS_MAX_SHIFT + 1];
    char *at, *end; /* what is left of the newest */
};

static inline unsigned slabs_shift(size_t bytes)
{
    unsigned shift = SLABS_MIN_SHIFT;

    while ((size_t)1 << shift < bytes)
        shift++;
    return shift;
}

/* slabs_take -- a piece of 2^shift bytes; NULL if there is no memory. */
static inline struct piece *slabs_take(struct slabs *s, unsigned shift)
{
    size_t bytes = (size_t)1 << shift;
    struct piece *p = s->spare[shift];

    if (p) {
        s->spare[shift] = p->next_free;
        return p;
    }
    if ((size_t)(s->end - s->at) < bytes) {
        char *more = s->map(SLAB_BYTES);

        if (more == NULL)
            return NULL;
        s->at = more;
        s->end = more + SLAB_BYTES;
    }
    p = (struct piece *)(void *)s->at;
    s->at += bytes;
    return p;
}

static inline void slabs_give_back(struct slabs *s, struct piece *p)
{
    unsigned shift = slabs_shift(p->bytes);

    p->next_free = s->spare[shift];
    s->spare[shift] = p;
}

#endif
