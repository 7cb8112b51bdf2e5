#include "compare/replicates.h"

#include "base/order.h"
#include "base/student.h"

#include <math.h>
#include <stdlib.h>

static double mean_of(const double *x, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

/* Variance of a single value of a side, as far as that side tells. */
static double variance_of(const struct repeated *x, int side)
{
    uint32_t first = side == 0 ? 0 : x->n[0], n = x->n[side];
    double least = x->least * x->least, sum = 0, mean = mean_of(x->value + first, n);

    for (uint32_t i = first; i < first + n; i++)
        sum += (x->value[i] - mean) * (x->value[i] - mean);
    if (x->own)
        least = fmax(least, mean_of(x->own + first, n));
    return n > 1 ? fmax(sum / (n - 1), least) : least;
}

void replicates_of(const struct repeated *x, struct replicates *out)
{
    uint32_t n = x->n[0], m = x->n[1];
    double p = variance_of(x, 0), q = variance_of(x, 1), a, b;

    *out = (struct replicates){.difference = mean_of(x->value + n, m) - mean_of(x->value, n)};
    if (n + m < 3)
        return;
    p = n == 1 ? fmax(p, q) : p;
    q = m == 1 ? fmax(p, q) : q;
    a = p / n;
    b = q / m;
    out->error = sqrt(a + b);
    out->width = sqrt((p + q) / 2);
    out->freedom =
        n == 1 || m == 1 ? n + m - 2 : (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1));
}

double replicates_chance(const struct replicates *r)
{
    if (r->freedom == 0)
        return 1;
    return 2 * student_tail(fabs(r->difference) / r->error, r->freedom);
}

double replicates_margin(const struct replicates *r, double confidence)
{
    if (r->freedom == 0)
        return INFINITY;
    return student_quantile((1 - confidence) / 2, r->freedom) * r->error;
}

uint32_t replicates_needed(const struct replicates *r, double confidence, double margin)
{
    for (uint32_t n = 2; n < MAX_REPLICATES && r->freedom > 0; n++)
        if (student_quantile((1 - confidence) / 2, 2.0 * n - 2) * r->width * sqrt(2.0 / n) <=
            margin)
            return n;
    return MAX_REPLICATES;
}

double replicates_limit(double *chance, uint32_t n, double rate)
{
    if (n > 0)
        qsort(chance, n, sizeof *chance, order_f64);
    for (uint32_t i = n; i > 0; i--)
        if (chance[i - 1] <= rate * i / n)
            return chance[i - 1];
    return -1;
}
