#include "prov/prov_stats.h"

#include "base/json.h"

#include <math.h>

struct prov_stats prov_stats_of(const struct moments *m)
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

struct moments prov_stats_moments(const struct prov_stats *s)
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
