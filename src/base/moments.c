#include "base/moments.h"

#include <math.h>

void moments_add(struct moments *m, double x)
{
    double n1 = (double)m->n, n = n1 + 1, delta = x - m->mean, d = delta / n, d2 = d * d;
    double term = delta * d * n1;

    m->min = m->n == 0 || x < m->min ? x : m->min;
    m->max = m->n == 0 || x > m->max ? x : m->max;
    m->sum += x;
    m->mean += d;
    m->m4 += term * d2 * (n * n - 3 * n + 3) + 6 * d2 * m->m2 - 4 * d * m->m3;
    m->m3 += term * d * (n - 2) - 3 * d * m->m2;
    m->m2 += term;
    m->n++;
}

void moments_merge(struct moments *a, const struct moments *b)
{
    double p = (double)a->n, q = (double)b->n, n = p + q;
    double d = b->mean - a->mean, dn = d / n, both = p * q;

    if (b->n == 0)
        return;
    if (a->n == 0) {
        *a = *b;
        return;
    }
    a->m4 += b->m4 + d * dn * dn * dn * both * (p * p - both + q * q) +
             6 * dn * dn * (p * p * b->m2 + q * q * a->m2) + 4 * dn * (p * b->m3 - q * a->m3);
    a->m3 += b->m3 + d * dn * dn * both * (p - q) + 3 * dn * (p * b->m2 - q * a->m2);
    a->m2 += b->m2 + d * dn * both;
    a->mean += dn * q;
    a->sum += b->sum;
    a->min = fmin(a->min, b->min);
    a->max = fmax(a->max, b->max);
    a->n += b->n;
}
