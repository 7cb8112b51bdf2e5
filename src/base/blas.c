/*
 * The libraries are named by the names that a linker would have written down (SNAG_OPENBLAS and
 * SNAG_LAPACKE, from cmake/libraries.cmake), and found where it would have had them found.
 */
#include "base/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct blas loaded;

static void *library(const char *name)
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        fprintf(stderr, "snag: error: cannot load %s, which is needed for this: %s\n", name,
                dlerror());
        abort();
    }
    return handle;
}

static void *function(void *handle, const char *name)
{
    void *address = dlsym(handle, name);

    if (address == NULL) {
        fprintf(stderr, "snag: error: the linear algebra library here has no %s: %s\n", name,
                dlerror());
        abort();
    }
    return address;
}

static void load(void)
{
    void *openblas = library(SNAG_OPENBLAS), *lapacke = library(SNAG_LAPACKE);
    __typeof__(openblas_set_num_threads) *set_threads;

/* POSIX lets dlsym() hand out functions, C has no cast for it. */
#define TAKE(from, name) *(void **)&loaded.name = function(from, #name);
#define FROM_OPENBLAS(name) TAKE(openblas, name)
#define FROM_LAPACKE(name) TAKE(lapacke, name)
    BLAS_FUNCTIONS(FROM_OPENBLAS)
    LAPACK_FUNCTIONS(FROM_LAPACKE)
    *(void **)&set_threads = function(openblas, "openblas_set_num_threads");
    set_threads(1); /* the same sums on any machine of this kind, and those who call share the
                       work out */
}

void blas_quiet(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

const struct blas *blas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return &loaded;
}
