/*
 * blas -- BLAS and LAPACK, loaded when first asked for.
 *
 * Few commands multiply matrices. OpenBLAS, once it is linked, starts a thread per processor
 * before main() in all of them, and each thread waits busily for its first tens of
 * milliseconds: that is more than reading a small trace takes, and on a node of many processors
 * it is taken from the program that is watched. So the libraries are opened by the first call
 * of blas_load(), and what `blas_quiet` puts into the environment keeps that from starting threads
 * as well: whoever calls shares out the work by `pool`.
 */
#ifndef SNAG_BASE_BLAS_H
#define SNAG_BASE_BLAS_H

#include "base/blas_abi.h"
#include "base/library.h"

/* What is used of them: one word here gives a function its place below. */
#define BLAS_FUNCTIONS(take)                                                                   \
    take(cblas_ddot) take(cblas_dgemm) take(cblas_dgemv) take(cblas_dnrm2) take(cblas_dscal)   \
        take(cblas_dswap) take(cblas_dsyrk) take(cblas_dtrsm) take(cblas_sgemm)                \
            take(cblas_sscal) take(openblas_set_num_threads)
#define LAPACK_FUNCTIONS(take) take(LAPACKE_dgeqrf) take(LAPACKE_dorgqr) take(LAPACKE_dsyevr)

struct blas {
    BLAS_FUNCTIONS(LIBRARY_MEMBER)
    LAPACK_FUNCTIONS(LIBRARY_MEMBER)
};

/* blas_quiet -- have OpenBLAS start no threads. For a program's main(), before any thread. */
void blas_quiet(void);

/*
 * blas_load -- load them (some milliseconds the first time); any thread may. What is made of matrices begins with this:
 * a server in which it fails goes on without.
 * Returns 0, or ERR_UNSUPPORTED with what is missing and the way out.
 */
int blas_load(void);

/* blas -- the functions, on one thread each, for who knows that blas_load() returns 0. */
const struct blas *blas(void);

#endif
