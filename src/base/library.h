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
 *     const struct libpq *libpq(void);
 *
 *     LIBRARY(libpq, "libpq.so.5", LIBPQ_FUNCTIONS)
 *
 * Their functions are declared by a header of ours beside it (postgres/pq_abi.h): nothing of them is needed to
 * build.
 */
#ifndef SNAG_BASE_LIBRARY_H
#define SNAG_BASE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define LIBRARY_MEMBER(function) __typeof__(function) *function;
#define LIBRARY_NAME(function) #function,
#define LIBRARY_WAY_OUT                                                                        \
    "Install the package that has it, or name its directory in LD_LIBRARY_PATH"
#define LIBRARY_COUNT(names) (sizeof(names) / sizeof(names)[0])

/*
 * library_load -- a library's functions.
 *   files  as a linker would have written them down, with one space between, in turn: the first that is
 *          there and has all names is taken ("liblapacke.so.3 libopenblas.so.0"); each is found where a
 *          program that is linked with it finds it
 *   names  (n) of its functions
 *   into   (n) out; a struct of n pointers to functions, in the order of the names
 * Where none is, this says so, with the packages that have it, and ends with status 127, as a program does that cannot be
 * started. The library stays.
 */
void library_load(const char *files, const char *const *names, size_t n, void *into);

/*
 * library_try -- the same, for what can be done without.
 *   why  (size) out: what the loader said, where none is taken: of the first file that is there, or of the first;
 *        "" where one is
 * Returns whether one was.
 */
bool library_try(const char *files, const char *const *names, size_t n, void *into, char *why,
                 size_t size);

/* LIBRARY -- the function `library` of one whose files have these names, as `library_load` takes them. */
#define LIBRARY(library, file, LIST)                                                           \
    static struct library library##_loaded;                                                    \
                                                                                               \
    static void library##_load(void)                                                           \
    {                                                                                          \
        static const char *const names[] = {LIST(LIBRARY_NAME)};                               \
                                                                                               \
        library_load(file, names, LIBRARY_COUNT(names), &library##_loaded);                    \
    }                                                                                          \
                                                                                               \
    const struct library *library(void)                                                        \
    {                                                                                          \
        static pthread_once_t once = PTHREAD_ONCE_INIT;                                        \
                                                                                               \
        pthread_once(&once, library##_load);                                                   \
        return &library##_loaded;                                                              \
    }

#endif
