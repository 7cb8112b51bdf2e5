/*
 * library -- shared libraries that are loaded when first needed.
 *
 * What a program is linked with is loaded before main(), whatever it is asked to do. Three of
 * the libraries here cost more than the rest of a short command does: libpq and libzmq bring
 * forty others with them (9 of 12 ms, 40 of 62 under AddressSanitizer), OpenBLAS starts
 * threads. Few commands need any. Each has a header that lists the functions used of it, as a
 * macro `LIST(take)`, and a function that loads it once:
 *
 *     struct libpq { LIBPQ_FUNCTIONS(LIBRARY_MEMBER) };
 *
 *     static const char *const names[] = {LIBPQ_FUNCTIONS(LIBRARY_NAME)};
 *     library_load(SNAG_LIBPQ, names, LIBRARY_COUNT(names), &loaded);
 */
#ifndef SNAG_BASE_LIBRARY_H
#define SNAG_BASE_LIBRARY_H

#include <stddef.h>

#define LIBRARY_MEMBER(function) __typeof__(function) *function;
#define LIBRARY_NAME(function) #function,
#define LIBRARY_COUNT(names) (sizeof(names) / sizeof(names)[0])

/*
 * library_load -- a library's functions.
 *   file   as a linker would have written it down ("libpq.so.5"), found where it would have had
 *          it found
 *   names  (n) of its functions
 *   into   (n) out; a struct of n pointers to functions, in the order of the names
 * Where the library or a function is not there this tells so and aborts, as if the program had
 * not started. The library stays.
 */
void library_load(const char *file, const char *const *names, size_t n, void *into);

#endif
