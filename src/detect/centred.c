#include "detect/centred.h"

#include "base/blas.h"
#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

double centred_row(const double *mean, const double *row, size_t cols, double *to)
{
    double norm = 0;

    for (size_t c = 0; c < cols; c++) {
        to[c] = row[c] - mean[c];
        norm += to[c] * to[c];
    }
    return norm;
}

void centred_init(struct centred *centred, struct matrix x)
{
    double *mean = mem_alloc(x.cols, sizeof *mean);

    *centred = (struct centred){.mean = mean};
    centred->x = (struct matrix){mem_resize(NULL, x.rows * x.cols, sizeof(double)), x.rows,
                                 x.cols, x.cols};
    centred->norm = mem_resize(NULL, x.rows, sizeof *centred->norm);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            mean[c] += matrix_row(x, i)[c] / (double)x.rows;
    for (size_t i = 0; i < x.rows; i++) {
        centred->norm[i] =
            centred_row(mean, matrix_row(x, i), x.cols, matrix_row(centred->x, i));
        if (centred->norm[i] > centred->longest)
            centred->longest = centred->norm[i];
    }
}

void centred_release(struct centred *centred)
{
    free(centred->x.x);
    free(centred->mean);
    free(centred->norm);
    *centred = (struct centred){0};
}

int centred_check(struct matrix x)
{
    for (size_t i = 0; i < x.rows; i++)
        for (size_t c = 0; c < x.cols; c++)
            if (!isfinite(matrix_row(x, i)[c]))
                return err_set(ERR_RANGE,
                               "cannot compare executions: feature %zu of execution %zu is %g",
                               c, i, matrix_row(x, i)[c]);
    return 0;
}

int centred_check_products(struct matrix x)
{
    int rc = centred_check(x);

    return rc < 0 ? rc : blas_load();
}
