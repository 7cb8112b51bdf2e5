#include "analysis/replicates.h"

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

/* Variance of a single value; 0 of one. */
static double variance_of(const double *x, uint32_t n, double least)
{
    double mean = mean_of(x, n), sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? fmax(sum / (n - 1), least * least) : 0;
}

void replicates_of(const double *before, uint32_t n, const double *after, uint32_t m,
                   double least, struct replicates *out)
{
    double p = variance_of(before, n, least), q = variance_of(after, m, least);

    *out = (struct replicates){.difference = mean_of(after, m) - mean_of(before, n)};
    if (n > 1 && m > 1) {
        double a = p / n, b = q / m;

        out->freedom = (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1));
        out->error = sqrt(a + b);
        out->width = sqrt((p + q) / 2);
    } else if (n + m > 2) {
        out->freedom = n + m - 2;
        out->width = sqrt(p + q);
        out->error = out->width * sqrt(1.0 / n + 1.0 / m);
    }
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
    for (uint32_t n = 2; n < REPLICATES_MOST && r->freedom > 0; n++)
        if (student_quantile((1 - confidence) / 2, 2.0 * n - 2) * r->width * sqrt(2.0 / n) <=
            margin)
            return n;
    return REPLICATES_MOST;
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
