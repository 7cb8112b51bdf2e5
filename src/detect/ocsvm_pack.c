/* The support vectors lie close: their stride is the number of columns. */
#include "detect/ocsvm_pack.h"

#include "base/err.h"

#include <math.h>

#define FORMAT 1u

void ocsvm_model_pack(const struct ocsvm_model *m, struct pack *p)
{
    const struct matrix *x = &m->support;

    pack_u32(p, FORMAT);
    pack_f64(p, m->rho);
    pack_f64(p, m->gamma);
    pack_u64(p, x->cols);
    pack_array(p, m->alpha, x->rows, sizeof *m->alpha);
    pack_array(p, x->x, x->rows * x->cols, sizeof *x->x);
}

static bool all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

int ocsvm_model_unpack(struct ocsvm_model *m, struct pack *p)
{
    struct matrix *x = &m->support;
    size_t n;

    *m = (struct ocsvm_model){0};
    if (unpack_u32(p) != FORMAT)
        return err_set(ERR_FORMAT, "the one-class SVM is of another version");
    m->rho = unpack_f64(p);
    m->gamma = unpack_f64(p);
    x->cols = x->stride = unpack_u64(p);
    x->rows = unpack_count(p, sizeof *m->alpha);
    m->alpha = unpack_array(p, x->rows, sizeof *m->alpha);
    n = unpack_count(p, sizeof *x->x);
    x->x = unpack_array(p, n, sizeof *x->x);
    p->is_bad |= x->rows == 0 || n % x->rows != 0 || n / x->rows != x->cols;
    if (p->is_bad || !isfinite(m->rho) || !isfinite(m->gamma) || !(m->gamma > 0) ||
        !all_finite(m->alpha, x->rows) || !all_finite(x->x, n))
        return err_set(ERR_FORMAT, "the one-class SVM is damaged");
    return 0;
}
