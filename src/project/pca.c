/*
 * Where it fits, LAPACK solves the smaller of the covariance matrix X'X and the Gram matrix
 * XX', which have the same eigenvalues; else X'X is only applied, to a few more vectors than
 * are wanted, until their Ritz values stand still (Halko, Martinsson, Tropp: Finding structure
 * with randomness, SIAM Rev. 53, 2011, algorithm 4.4 with more steps).
 */
#include "project/pca.h"

#include "base/blas.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 1000       /* the largest matrix given to LAPACK */
#define SPARE 10         /* vectors beyond those wanted */
#define STEPS 300        /* of the subspace iteration */
#define STANDSTILL 1e-12 /* relative change of the Ritz values */

/* The wanted end of the spectrum of a symmetric (n, n) matrix, which is overwritten. */
static int top_eigen(double *a, size_t n, size_t k, double *value, double *vector)
{
    double *values = mem_alloc(n, sizeof *values);
    lapack_int *support = mem_alloc(2 * n, sizeof *support), n_found = 0, info;

    info = blas()->LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'L', (lapack_int)n, a,
                                  (lapack_int)n, 0, 0, (lapack_int)(n - k + 1), (lapack_int)n,
                                  0, &n_found, values, vector, (lapack_int)n, support);
    for (size_t c = 0; c < k; c++)
        value[c] = fmax(values[k - 1 - c], 0);
    for (size_t c = 0; c < k / 2; c++)
        blas()->cblas_dswap((int)n, vector + c * n, 1, vector + (k - 1 - c) * n, 1);
    free(values);
    free(support);
    if (info != 0 || n_found != (lapack_int)k)
        return err_set(ERR_RANGE, "cannot find principal components: LAPACK gave up (%d)",
                       (int)info);
    return 0;
}

static int from_covariance(struct pca *pca, struct matrix x, size_t k)
{
    double *a = mem_alloc(x.cols * x.cols, sizeof *a);
    int rc;

    blas()->cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)x.cols, (int)x.rows, 1,
                        x.x, (int)x.stride, 0, a, (int)x.cols);
    rc = top_eigen(a, x.cols, k, pca->variance, pca->direction);
    free(a);
    return rc;
}

/* XX' u = v u gives X'u / sqrt(v). */
static int from_gram(struct pca *pca, struct matrix x, size_t k)
{
    double *a = mem_alloc(x.rows * x.rows, sizeof *a);
    double *u = mem_alloc(x.rows * k, sizeof *u);
    int rc;

    blas()->cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)x.rows, (int)x.cols, 1, x.x,
                        (int)x.stride, 0, a, (int)x.rows);
    rc = top_eigen(a, x.rows, k, pca->variance, u);
    for (size_t c = 0; rc == 0 && c < k; c++) {
        double *direction = pca->direction + c * x.cols, norm;

        blas()->cblas_dgemv(CblasColMajor, CblasNoTrans, (int)x.cols, (int)x.rows, 1, x.x,
                            (int)x.stride, u + c * x.rows, 1, 0, direction, 1);
        norm = blas()->cblas_dnrm2((int)x.cols, direction, 1);
        if (norm > 0)
            blas()->cblas_dscal((int)x.cols, 1 / norm, direction, 1);
    }
    free(a);
    free(u);
    return rc;
}

/* ------------------------------------------------------------------- subspace iteration */

/* All column-major: q and z (cols, l), y (rows, l), ritz (l, l). */
struct subspace {
    struct matrix x;
    size_t l;
    double *q, *z, *y, *ritz, *value, *vector;
};

/* q = a basis of what z spans. */
static void orthonormalize(struct subspace *s)
{
    double *tau = mem_alloc(s->l, sizeof *tau);
    lapack_int rows = (lapack_int)s->x.cols, l = (lapack_int)s->l;

    memcpy(s->q, s->z, s->x.cols * s->l * sizeof *s->q);
    blas()->LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, l, s->q, rows, tau);
    blas()->LAPACKE_dorgqr(LAPACK_COL_MAJOR, rows, l, l, s->q, rows, tau);
    free(tau);
}

/* z = X'X q, and the Ritz values and vectors of q. */
static int apply(struct subspace *s)
{
    int rows = (int)s->x.rows, cols = (int)s->x.cols, l = (int)s->l, stride = (int)s->x.stride;

    blas()->cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, rows, l, cols, 1, s->x.x,
                        stride, s->q, cols, 0, s->y, rows);
    blas()->cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, cols, l, rows, 1, s->x.x,
                        stride, s->y, rows, 0, s->z, cols);
    blas()->cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, l, l, rows, 1, s->y, rows,
                        s->y, rows, 0, s->ritz, l);
    return top_eigen(s->ritz, s->l, s->l, s->value, s->vector);
}

static int from_subspace(struct pca *pca, struct matrix x, size_t k, uint64_t seed)
{
    size_t l = k + SPARE;
    struct subspace s = {.x = x, .l = l};
    struct rng rng = {seed};
    int rc = 0;

    s.q = mem_alloc(x.cols * l, sizeof *s.q);
    s.z = mem_alloc(x.cols * l, sizeof *s.z);
    s.y = mem_alloc(x.rows * l, sizeof *s.y);
    s.ritz = mem_alloc(l * l, sizeof *s.ritz);
    s.value = mem_alloc(l, sizeof *s.value);
    s.vector = mem_alloc(l * l, sizeof *s.vector);
    for (size_t i = 0; i < x.cols * l; i++)
        s.z[i] = rng_normal(&rng);
    for (int step = 0; rc == 0 && step < STEPS; step++) {
        double change = 0;

        orthonormalize(&s);
        rc = apply(&s);
        for (size_t c = 0; c < k; c++)
            change = fmax(change, fabs(s.value[c] - pca->variance[c]));
        memcpy(pca->variance, s.value, k * sizeof *s.value);
        if (change <= STANDSTILL * s.value[0])
            break;
    }
    blas()->cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)x.cols, (int)k, (int)l,
                        1, s.q, (int)x.cols, s.vector, (int)l, 0, pca->direction, (int)x.cols);
    free(s.q);
    free(s.z);
    free(s.y);
    free(s.ritz);
    free(s.value);
    free(s.vector);
    return rc;
}

/* ---------------------------------------------------------------------------------- public */

/* A packed copy without the mean; total is NAN or infinite when it cannot be had. */
static struct matrix centre(struct pca *pca, struct matrix x)
{
    struct matrix to = {NULL, x.rows, x.cols, x.cols};

    to.x = mem_resize(NULL, x.rows * x.cols + 1, sizeof *to.x);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            pca->mean[c] += matrix_row(x, i)[c] / (double)x.rows;
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++) {
            double v = matrix_row(x, i)[c] - pca->mean[c];

            matrix_row(to, i)[c] = v;
            pca->total += v * v;
        }
    return to;
}

/* What is beyond the rank is noise: no direction. The others get their sign. */
static void finish(struct pca *pca, struct matrix x)
{
    double least = DBL_EPSILON * (double)(x.rows + x.cols) * pca->total;

    for (size_t c = 0; c < pca->k; c++) {
        double *direction = pca->direction + c * x.cols, largest = 0;

        for (size_t i = 0; i < x.cols; i++)
            if (fabs(direction[i]) > fabs(largest) * (1 + 1e-9))
                largest = direction[i];
        if (pca->variance[c] <= least)
            pca->variance[c] = 0;
        for (size_t i = 0; i < x.cols; i++)
            direction[i] *= pca->variance[c] == 0 ? 0 : largest < 0 ? -1 : 1;
    }
}

int pca_fit(struct pca *pca, struct matrix x, size_t k, uint64_t seed)
{
    size_t rank = x.rows < x.cols ? x.rows : x.cols, n = k < rank ? k : rank;
    struct matrix centred;
    int rc = 0;

    *pca = (struct pca){.k = k, .cols = x.cols};
    pca->mean = mem_alloc(x.cols, sizeof *pca->mean);
    pca->direction = mem_alloc(k * x.cols, sizeof *pca->direction);
    pca->variance = mem_alloc(k, sizeof *pca->variance);
    centred = centre(pca, x);
    if (!isfinite(pca->total))
        rc = err_set(ERR_RANGE, "cannot find principal components: numbers are too large");
    else if (n > 0 && rank > SMALL && rank > 4 * (k + SPARE))
        rc = from_subspace(pca, centred, n, seed);
    else if (n > 0)
        rc = x.cols <= x.rows ? from_covariance(pca, centred, n) : from_gram(pca, centred, n);
    if (rc == 0)
        finish(pca, x);
    free(centred.x);
    return rc;
}

void pca_release(struct pca *pca)
{
    free(pca->mean);
    free(pca->direction);
    free(pca->variance);
    *pca = (struct pca){0};
}

void pca_place(const struct pca *pca, struct matrix x, double *out)
{
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < pca->k; c++) {
            const double *direction = pca->direction + c * x.cols;
            double sum = 0;

            for (size_t j = 0; j < x.cols; j++)
                sum += (matrix_row(x, i)[j] - pca->mean[j]) * direction[j];
            out[i * pca->k + c] = sum;
        }
}

int pca_run(struct matrix x, const struct project_opts *opts, double *points,
            struct project_result *result)
{
    struct pca pca;
    int rc = pca_fit(&pca, x, 2, opts->seed);

    if (rc == 0) {
        double shown = pca.variance[0] + pca.variance[1];

        pca_place(&pca, x, points);
        result->cost = pca.total > 0 ? fmax(1 - shown / pca.total, 0) : 0;
    }
    pca_release(&pca);
    return rc;
}
