/* lapack -- the few routines of LAPACK that are used; OpenBLAS brings them. Column-major. */
#ifndef SNAG_BASE_LAPACK_H
#define SNAG_BASE_LAPACK_H

/* Cholesky factor of a symmetric positive definite matrix, in place; info 0 when done. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

/* Solves with that factor, in place. */
void dpotrs_(const char *uplo, const int *n, const int *n_rhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info);

#endif
