/*
 * mem -- memory that is either there or ends the program.
 *
 * Running out of memory cannot be handled sensibly half-way through an analysis, so these
 * abort, after telling who wants to know how much was asked for. A size that was read from
 * outside is checked by its reader before it comes here.
 */
#ifndef SNAG_BASE_MEM_H
#define SNAG_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* mem_on_failure -- call this before aborting; NULL: nothing. Before any thread. */
void mem_on_failure(void (*tell)(size_t n, size_t width));

/* mem_give_up -- there is no memory for n objects of width bytes: tells, and aborts. */
void mem_give_up(size_t n, size_t width) __attribute__((noreturn));

/* mem_has_given_up -- whether that is what a SIGABRT is for; handlers of signals may ask. */
bool mem_has_given_up(void);

/* mem_alloc -- n objects of width bytes, zeroed. n or width may be 0. Free with free(). */
void *mem_alloc(size_t n, size_t width);

/* mem_resize -- realloc to n objects of width bytes; what is new is not initialised. */
void *mem_resize(void *old, size_t n, size_t width);

/* mem_copy -- a copy of n objects of width bytes, NULL allowed where n is 0. Free with free(). */
void *mem_copy(const void *data, size_t n, size_t width);

/* mem_copy_string -- a copy of text (not NULL). Free with free(). */
char *mem_copy_string(const char *text);

/*
 * mem_to_front -- move n objects of width bytes from index `from` of an array to its beginning.
 * The array may be NULL when n is 0, which memmove and pointer arithmetic do not allow.
 */
void mem_to_front(void *data, size_t from, size_t n, size_t width);

/*
 * mem_grow -- make room for at least need objects in a growing array.
 *   data   the array, by its address, NULL at first; replaced when it moves
 *   cap    objects it has room for, size_t by its address; updated
 *   need   objects wanted
 * Doubles, so that appending is O(1) on average. What is new is not initialised: pages that
 * are never written cost no memory.
 */
#define mem_grow(data, cap, need)                                                              \
    ((size_t)(need) > *(cap)                                                                   \
         ? (void)(*(data) = mem_grow_slow(*(data), cap, need, sizeof **(data)))                \
         : (void)0)
void *mem_grow_slow(void *data, size_t *cap, size_t need, size_t width);

/*
 * mem_push -- one more object at the end of a growing array: where it is, not initialised.
 *   data, cap  as for mem_grow
 *   n          objects that the array has, any integer by its address; one more afterwards
 */
#define mem_push(data, n, cap) (mem_grow(data, cap, 1 + (size_t)(*(n))), *(data) + (*(n))++)

#endif
