/*
 * blas_abi -- what is called of CBLAS and LAPACKE, as their libraries have it.
 *
 * Written down here because the libraries are loaded when they are first needed (blas.h): so nothing of
 * theirs has to be there to build. tests/support/abi_test.c includes their own headers first, and has
 * the compiler compare.
 */
#ifndef SNAG_BASE_BLAS_ABI_H
#define SNAG_BASE_BLAS_ABI_H

#define CBLAS_ABI_CONSTANTS(take)                                                              \
    take(CblasRowMajor, 101) take(CblasColMajor, 102) take(CblasNoTrans, 111)                  \
        take(CblasTrans, 112) take(CblasUpper, 121) take(CblasLower, 122)                      \
            take(CblasNonUnit, 131) take(CblasLeft, 141)
#define LAPACKE_ABI_CONSTANTS(take) take(LAPACK_COL_MAJOR, 102)

#define ABI_CONSTANT(name, value) name = (value),
#ifndef CBLAS_H
enum { CBLAS_ABI_CONSTANTS(ABI_CONSTANT) };
#endif
#ifndef _LAPACKE_H_
enum { LAPACKE_ABI_CONSTANTS(ABI_CONSTANT) };
typedef int lapack_int;
#endif
#undef ABI_CONSTANT

typedef unsigned
    cblas_choice; /* what an enumeration without negative values is to the compiler */

double cblas_ddot(int n, const double *x, int x_step, const double *y, int y_step);
void cblas_dgemm(cblas_choice order, cblas_choice trans_a, cblas_choice trans_b, int m, int n,
                 int k, double alpha, const double *a, int lda, const double *b, int ldb,
                 double beta, double *c, int ldc);
void cblas_dgemv(cblas_choice order, cblas_choice trans, int m, int n, double alpha,
                 const double *a, int lda, const double *x, int x_step, double beta, double *y,
                 int y_step);
double cblas_dnrm2(int n, const double *x, int x_step);
void cblas_dscal(int n, double alpha, double *x, int x_step);
void cblas_dswap(int n, double *x, int x_step, double *y, int y_step);
void cblas_dsyrk(cblas_choice order, cblas_choice uplo, cblas_choice trans, int n, int k,
                 double alpha, const double *a, int lda, double beta, double *c, int ldc);
void cblas_dtrsm(cblas_choice order, cblas_choice side, cblas_choice uplo, cblas_choice trans_a,
                 cblas_choice diag, int m, int n, double alpha, const double *a, int lda,
                 double *b, int ldb);
void cblas_sgemm(cblas_choice order, cblas_choice trans_a, cblas_choice trans_b, int m, int n,
                 int k, float alpha, const float *a, int lda, const float *b, int ldb,
                 float beta, float *c, int ldc);
void cblas_sscal(int n, float alpha, float *x, int x_step);
void openblas_set_num_threads(int n);

lapack_int LAPACKE_dgeqrf(int layout, lapack_int m, lapack_int n, double *a, lapack_int lda,
                          double *tau);
lapack_int LAPACKE_dorgqr(int layout, lapack_int m, lapack_int n, lapack_int k, double *a,
                          lapack_int lda, const double *tau);
lapack_int LAPACKE_dsyevr(int layout, char jobz, char range, char uplo, lapack_int n, double *a,
                          lapack_int lda, double vl, double vu, lapack_int il, lapack_int iu,
                          double tolerance, lapack_int *m, double *w, double *z, lapack_int ldz,
                          lapack_int *support);

#endif
