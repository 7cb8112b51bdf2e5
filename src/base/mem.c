/*
 * Growth doubles from 64 objects on; glibc moves large blocks by remapping, not by copying.
 * Large blocks ask for huge pages: touching 2 MiB for the first time then costs one page fault
 * instead of 512. What is never touched still costs nothing.
 */
#include "base/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)4 << 20) /* blocks from here on are worth huge pages */

static void (*on_failure)(size_t n, size_t width);
static atomic_bool has_given_up;

void mem_on_failure(void (*tell)(size_t n, size_t width))
{
    on_failure = tell;
}

void mem_give_up(size_t n, size_t width)
{
    if (on_failure)
        on_failure(n, width);
    atomic_store(&has_given_up, true);
    abort();
}

bool mem_has_given_up(void)
{
    return atomic_load(&has_given_up);
}

static size_t bytes_of(size_t n, size_t width)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, width, &bytes))
        mem_give_up(n, width);
    return bytes ? bytes : 1;
}

static void *or_abort(void *data, size_t bytes)
{
    if (data == NULL)
        mem_give_up(bytes, 1);
    return data;
}

/*
 * All of its mapping, from glibc's two words at the begin to the last page: what is advised in a part is two mappings
 * to the kernel, which remaps one at a time, and each growth of the array would be a copy of it.
 */
static void *prefer_huge_pages(void *data, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)data & -page;

    if (bytes >= HUGE_BYTES)
        madvise((void *)from, (malloc_usable_size(data) + 2 * sizeof(size_t)) & -page,
                MADV_HUGEPAGE); /* advice: may be refused */
    return data;
}

void *mem_alloc(size_t n, size_t width)
{
    size_t bytes = bytes_of(n, width);

    return prefer_huge_pages(or_abort(calloc(1, bytes), bytes), bytes);
}

/* Whether the block has a mapping to itself: glibc's begin two words into a page. */
static bool is_mapped(const void *data)
{
    return (uintptr_t)data % (uintptr_t)sysconf(_SC_PAGESIZE) == 2 * sizeof(size_t);
}

/* realloc copies what is not mapped before huge pages can be asked for. */
void *mem_resize(void *old, size_t n, size_t width)
{
    size_t bytes = bytes_of(n, width), n_old = malloc_usable_size(old);
    void *data;

    if (bytes < HUGE_BYTES || bytes <= n_old || n_old == 0 || is_mapped(old))
        return prefer_huge_pages(or_abort(realloc(old, bytes), bytes), bytes);
    data = prefer_huge_pages(or_abort(malloc(bytes), bytes), bytes);
    memcpy(data, old, n_old);
    free(old);
    return data;
}

void *mem_copy(const void *data, size_t n, size_t width)
{
    void *copy = mem_resize(NULL, n, width);

    if (n > 0)
        memcpy(copy, data, n * width);
    return copy;
}

char *mem_copy_string(const char *text)
{
    return or_abort(strdup(text), strlen(text) + 1);
}

void mem_to_front(void *data, size_t from, size_t n, size_t width)
{
    if (n > 0)
        memmove(data, (char *)data + from * width, n * width);
}

void *mem_grow_slow(void *data, size_t *cap, size_t need, size_t width)
{
    size_t want = *cap ? *cap : 64;

    while (want < need)
        want = want > SIZE_MAX / 2 ? need : want * 2;
    *cap = want;
    return mem_resize(data, want, width);
}
