#include "prov/moments.h"

#include "base/json.h"

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

struct prov_stats moments_stats(const struct moments *m)
{
    double n = (double)m->n;
    struct prov_stats stats = {.count = m->n,
                               .accumulate = m->sum,
                               .minimum = m->min,
                               .maximum = m->max,
                               .mean = m->mean};

    if (m->n > 1)
        stats.stddev = sqrt(m->m2 / (n - 1));
    if (m->m2 > 0) {
        stats.skewness = sqrt(n) * m->m3 / pow(m->m2, 1.5);
        stats.kurtosis = n * m->m4 / (m->m2 * m->m2) - 3;
    }
    return stats;
}

struct moments moments_of(const struct prov_stats *s)
{
    double n = (double)s->count;
    struct moments m = {.n = s->count,
                        .min = s->minimum,
                        .max = s->maximum,
                        .sum = s->accumulate,
                        .mean = s->mean};

    if (s->count < 2 || s->stddev <= 0)
        return m;
    m.m2 = s->stddev * s->stddev * (n - 1);
    m.m3 = s->skewness * pow(m.m2, 1.5) / sqrt(n);
    m.m4 = (s->kurtosis + 3) * m.m2 * m.m2 / n;
    return m;
}

char *prov_stats_text(const struct prov_stats *s)
{
    json_t *json = json_object();
    char *text;

    json_object_set_new(json, "count", json_count(s->count));
    json_object_set_new(json, "accumulate", json_number(s->accumulate));
    json_object_set_new(json, "minimum", json_number(s->minimum));
    json_object_set_new(json, "maximum", json_number(s->maximum));
    json_object_set_new(json, "mean", json_number(s->mean));
    json_object_set_new(json, "stddev", json_number(s->stddev));
    json_object_set_new(json, "skewness", json_number(s->skewness));
    json_object_set_new(json, "kurtosis", json_number(s->kurtosis));
    text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

static double field(const json_t *json, const char *name)
{
    return json_number_value(json_object_get(json, name)); /* 0 for null */
}

struct prov_stats prov_stats_read(const json_t *json)
{
    double count = field(json, "count");

    return (struct prov_stats){.count =
                                   count >= 1 && count <= PROV_MAX_STATS ? (uint64_t)count : 0,
                               .accumulate = field(json, "accumulate"),
                               .minimum = field(json, "minimum"),
                               .maximum = field(json, "maximum"),
                               .mean = field(json, "mean"),
                               .stddev = field(json, "stddev"),
                               .skewness = field(json, "skewness"),
                               .kurtosis = field(json, "kurtosis")};
}
