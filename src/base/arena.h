/*
 * arena -- memory with one lifetime: run, step or scratch.
 *
 * Allocation moves a pointer; nothing is freed singly. A scratch user takes a mark and gives it
 * back, which undoes everything since:
 *
 *     struct arena_mark mark = arena_mark(scratch);
 *     double *distance = arena_array(scratch, double, n);
 *     ...
 *     arena_restore(scratch, mark);
 *
 * Every allocation is aligned to 64 bytes. Under AddressSanitizer, what was given back is
 * poisoned. A struct arena that is zeroed is empty and ready.
 */
#ifndef SNAG_BASE_ARENA_H
#define SNAG_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *last; /* newest block, which links to the older ones */
    size_t used;              /* bytes taken in the newest block */
};

struct arena_mark {
    struct arena_block *last;
    size_t used;
};

/* arena_release -- free everything; the arena is empty and ready again. Twice is harmless. */
void arena_release(struct arena *a);

/*
 * arena_alloc -- n objects of width bytes, not initialised, 64-byte aligned, never NULL.
 * Aborts when memory runs out. Cost O(1).
 */
void *arena_alloc(struct arena *a, size_t n, size_t width);

/* arena_zeroed -- as arena_alloc, zeroed. */
void *arena_zeroed(struct arena *a, size_t n, size_t width);

#define arena_array(a, type, n) ((type *)arena_alloc((a), (n), sizeof(type)))
#define arena_zeros(a, type, n) ((type *)arena_zeroed((a), (n), sizeof(type)))

/* arena_string -- a copy of text. */
char *arena_string(struct arena *a, const char *text);

/* arena_mark, arena_restore -- give back all that was allocated since the mark. */
struct arena_mark arena_mark(const struct arena *a);
void arena_restore(struct arena *a, struct arena_mark mark);

#endif
