/* LAPACKE is a library of its own in Debian, and a part of OpenBLAS in Fedora and in Spack. */
#include "base/blas.h"

#include "base/err.h"

#include <pthread.h>
#include <stdlib.h>

static struct blas loaded;
static char trouble[512]; /* why they are not loaded; "": they are */

static void load(void)
{
    static const char *const blas_names[] = {BLAS_FUNCTIONS(LIBRARY_NAME)};
    static const char *const lapack_names[] = {LAPACK_FUNCTIONS(LIBRARY_NAME)};

    if (library_try("libopenblas.so.0 libopenblasp.so.0", blas_names, LIBRARY_COUNT(blas_names),
                    &loaded, trouble, sizeof trouble) &&
        library_try("liblapacke.so.3 libopenblas.so.0 libopenblasp.so.0", lapack_names,
                    LIBRARY_COUNT(lapack_names),
                    (char *)&loaded + sizeof(blas_names), /* they follow in the struct */
                    trouble, sizeof trouble))
        loaded.openblas_set_num_threads(1); /* the same sums on any machine of this kind, and
                                               those who call share the work out */
}

int blas_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    return trouble[0] == '\0'
               ? 0
               : err_set(
                     ERR_UNSUPPORTED,
                     "libopenblas.so.0 and liblapacke.so.3 are needed for this, and cannot be "
                     "loaded: %s. " LIBRARY_WAY_OUT,
                     trouble);
}

void blas_quiet(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

const struct blas *blas(void)
{
    if (blas_load() < 0)
        abort(); /* nobody has asked whether they are there */
    return &loaded;
}
