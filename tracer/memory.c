/*
 * Small pieces are cut from slabs; large ones are mappings of their own.
 *
 * The lock is held for a moment, with all signals blocked. A child of a fork never asks:
 * nothing is recorded in it.
 */
#include "memory.h"

#include "quiet.h"
#include "recorder.h"
#include "slabs.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define RESERVE_BYTES ((size_t)2 << 20) /* touched only when there is nothing else */

_Static_assert(MEMORY_SURE + sizeof(struct piece) <= SLABS_MAX_BYTES, "sizes");

static atomic_flag lock = ATOMIC_FLAG_INIT;
static char reserve[RESERVE_BYTES] __attribute__((aligned(16)));
static size_t reserve_used;
static atomic_bool is_short;

bool memory_is_short(void)
{
    return atomic_load_explicit(&is_short, memory_order_relaxed);
}

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at != MAP_FAILED)
        return at;
    if (!atomic_exchange(&is_short, true))
        recorder_give_up(ENOMEM);
    return NULL;
}

static void *map_slab(size_t bytes)
{
    return memory_is_short() ? NULL : map(bytes);
}

static struct slabs slabs = {.map = map_slab};

/* Of the power of two; with the lock held. */
static struct piece *small_piece(unsigned shift)
{
    size_t bytes = (size_t)1 << shift;
    struct piece *p = slabs_take(&slabs, shift);

    if (p == NULL && reserve_used + bytes <= sizeof reserve) {
        p = (void *)&reserve[reserve_used];
        reserve_used += bytes;
    }
    return p;
}

static void enter(struct quiet *q)
{
    quiet_begin(q);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        sched_yield();
}

static void leave(const struct quiet *q)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
    quiet_end(q);
}

static struct piece *new_piece(size_t bytes)
{
    struct piece *p;
    struct quiet q;

    if (bytes > SLABS_MAX_BYTES) {
        bytes = (bytes + 4095) & ~(size_t)4095;
        quiet_begin(&q);
        p = map(bytes);
        quiet_end(&q);
    } else {
        unsigned shift = slabs_shift(bytes);

        bytes = (size_t)1 << shift;
        enter(&q);
        p = small_piece(shift);
        leave(&q);
    }
    if (p)
        p->bytes = bytes;
    return p;
}

static void free_piece(struct piece *p)
{
    struct quiet q;

    if (p->bytes > SLABS_MAX_BYTES) {
        quiet_begin(&q);
        munmap(p, p->bytes);
        quiet_end(&q);
        return;
    }
    enter(&q);
    slabs_give_back(&slabs, p);
    leave(&q);
}

void *memory_resize(void *old, size_t n, size_t width)
{
    struct piece *before = old ? (struct piece *)old - 1 : NULL, *p;
    size_t bytes;

    if (__builtin_mul_overflow(n, width, &bytes) ||
        __builtin_add_overflow(bytes, sizeof *p, &bytes))
        return NULL;
    if (before && bytes <= before->bytes)
        return old;
    p = new_piece(bytes);
    if (p == NULL)
        return NULL;
    if (before) {
        memcpy(p + 1, old, before->bytes - sizeof *before);
        free_piece(before);
    }
    return p + 1;
}

void *memory_zeroed(size_t n, size_t width)
{
    void *at = memory_resize(NULL, n, width);

    return at ? memset(at, 0, n * width) : NULL;
}

void *memory_fresh(size_t bytes)
{
    struct quiet q;
    void *at;

    quiet_begin(&q);
    at = map(bytes);
    quiet_end(&q);
    return at;
}

bool memory_grow_to(void *array, size_t n, size_t *cap, size_t width)
{
    size_t more = *cap ? 2 * *cap : 16;
    void *at, *grown;

    if (n < *cap)
        return true;
    memcpy(&at, array, sizeof at);
    grown = memory_resize(at, more, width);
    if (grown == NULL)
        return false;
    memcpy(array, &grown, sizeof grown);
    *cap = more;
    return true;
}

char *memory_copy(const char *text)
{
    size_t n = strnlen(text, MEMORY_SURE - 1);
    char *copy = memory_resize(NULL, n + 1, 1);

    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

void memory_free(void *memory)
{
    if (memory)
        free_piece((struct piece *)memory - 1);
}
