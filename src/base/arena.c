/*
 * A stack of blocks, each twice as large as the one before it, from 16 to 256 KiB, or as large
 * as the request:
 *
 *     last --> [header | used ........ | free ....] --> [header | full] --> NULL
 *
 * A request larger than the rest of the newest block opens a new one; the rest is given up.
 * Blocks newer than a mark are freed when it is restored, so that a large temporary does not
 * stay for the rest of the run. The first one is small because most arenas hold little and live
 * for one call: that is what malloc has at hand, where 256 KiB may have to be mapped by the
 * kernel, page by page, and given back.
 */
#include "base/arena.h"

#include "base/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define ALIGN 64u
#define MIN_BLOCK_BYTES ((size_t)16 << 10)
#define MAX_BLOCK_BYTES ((size_t)256 << 10)

struct arena_block {
    struct arena_block *older;
    size_t size; /* bytes of data */
    char pad[ALIGN - sizeof(struct arena_block *) - sizeof(size_t)];
    char data[];
};

static struct arena_block *block_new(struct arena_block *older, size_t size)
{
    struct arena_block *block = NULL;

    if (size <= SIZE_MAX - sizeof *block)
        block = aligned_alloc(ALIGN, sizeof *block + size);
    if (block == NULL)
        mem_give_up(size, 1);
    block->older = older;
    block->size = size;
    POISON(block->data, size);
    return block;
}

/* What is left for data in the block after `older`, if nobody asks for more. */
static size_t typical_size(const struct arena_block *older)
{
    size_t bytes = older ? 2 * (sizeof *older + older->size) : MIN_BLOCK_BYTES;

    return (bytes < MAX_BLOCK_BYTES ? bytes : MAX_BLOCK_BYTES) - sizeof *older;
}

void arena_release(struct arena *a)
{
    arena_restore(a, (struct arena_mark){0});
}

void *arena_alloc(struct arena *a, size_t n, size_t width)
{
    size_t bytes;
    void *data;

    if (__builtin_mul_overflow(n, width, &bytes) || bytes > SIZE_MAX - ALIGN)
        mem_give_up(n, width);
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (a->last == NULL || bytes > a->last->size - a->used) {
        size_t typical = typical_size(a->last);

        a->last = block_new(a->last, bytes > typical ? bytes : typical);
        a->used = 0;
    }
    data = a->last->data + a->used;
    a->used += bytes;
    UNPOISON(data, n * width);
    return data;
}

void *arena_zeroed(struct arena *a, size_t n, size_t width)
{
    void *data = arena_alloc(a, n, width);

    memset(data, 0, n * width);
    return data;
}

char *arena_string(struct arena *a, const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(arena_alloc(a, size, 1), text, size);
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){.last = a->last, .used = a->used};
}

void arena_restore(struct arena *a, struct arena_mark mark)
{
    while (a->last != mark.last) {
        struct arena_block *older = a->last->older;

        assert(older != NULL || mark.last == NULL);
        UNPOISON(a->last->data, a->last->size);
        free(a->last);
        a->last = older;
    }
    a->used = mark.used;
    if (a->last)
        POISON(a->last->data + a->used, a->last->size - a->used);
}
