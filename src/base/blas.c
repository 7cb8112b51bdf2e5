/* LAPACKE is a library of its own in Debian, and a part of OpenBLAS in Fedora and in Spack. */
#include "base/blas.h"

#include <pthread.h>
#include <stdlib.h>

static struct blas loaded;

static void load(void)
{
    static const char *const blas_names[] = {BLAS_FUNCTIONS(LIBRARY_NAME)};
    static const char *const lapack_names[] = {LAPACK_FUNCTIONS(LIBRARY_NAME)};

    library_load("libopenblas.so.0 libopenblasp.so.0", blas_names, LIBRARY_COUNT(blas_names),
                 &loaded);
    library_load("liblapacke.so.3 libopenblas.so.0 libopenblasp.so.0", lapack_names,
                 LIBRARY_COUNT(lapack_names),
                 (char *)&loaded + sizeof(blas_names)); /* they follow in the struct */
    loaded.openblas_set_num_threads(1); /* the same sums on any machine of this kind, and those
                                           who call share the work out */
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
