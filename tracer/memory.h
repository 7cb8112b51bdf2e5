/*
 * memory -- the tracer's own, not from the program's malloc.
 *
 * That may be the program's, whose functions have hooks in which we need memory; or it was
 * interrupted by a signal whose handler has hooks. And when there is none left the program is
 * to go on: recording ends then (recorder_give_up), and what is still being done gets what it
 * needs from a reserve, if it is small. So whoever asks for at most MEMORY_SURE bytes gets
 * them; whoever asks for more has to look.
 */
#ifndef SNAG_TRACER_MEMORY_H
#define SNAG_TRACER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define MEMORY_SURE 32768u /* bytes */

/* memory_resize -- as reallocarray. Never NULL if it is no more than MEMORY_SURE bytes; else
 * NULL if there is none, and then the old memory is as it was. Thread-safe. */
void *memory_resize(void *old, size_t n, size_t width);

/* memory_zeroed -- as calloc; NULL as of memory_resize. */
void *memory_zeroed(size_t n, size_t width);

/* memory_fresh -- zeros, whose pages take no memory before they are touched; never given back.
 * NULL if there is none. */
void *memory_fresh(size_t bytes);

/*
 * memory_grow -- see that an array has room for one more.
 *   array  a pointer to its pointer
 *   n      how many there are in it
 *   cap    how many it has room for
 * False if there is none.
 */
#define memory_grow(array, n, cap) memory_grow_to((array), (n), &(cap), sizeof **(array))
bool memory_grow_to(void *array, size_t n, size_t *cap, size_t width);

/* memory_copy -- as strdup, of at most MEMORY_SURE bytes. */
char *memory_copy(const char *text);

void memory_free(void *memory);

/* memory_is_short -- there was none: whoever reads much can stop. */
bool memory_is_short(void);

#endif
