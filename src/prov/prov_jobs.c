/*
 * Statistics are merged by their central moments, which mean, deviation, skewness and kurtosis
 * say. Source: Pebay: Formulas for Robust, One-Pass Parallel Computation of Covariances and
 * Arbitrary-Order Statistical Moments. Sandia, SAND2008-6212, section 2.
 */
#include "prov/prov_jobs.h"

#include "base/mem.h"
#include "prov/prov_json.h"
#include "prov/prov_reader.h"

#include <math.h>
#include <stdlib.h>

#define MOST_BYTES 4096 /* of an object of statistics: ours are of 300 */
#define MOST_VALUES 0x1p53

struct moments {
    double n, sum, min, max, mean, m2, m3, m4; /* sums of powers of distances from the mean */
};

/* What is gathered of the rows of a group that say something. */
struct merged {
    uint64_t n_rows;
    char *only; /* of one row alone: as it is, to the last digit */
    struct moments moments;
};

static double field(const json_t *json, const char *name)
{
    return json_number_value(json_object_get(json, name)); /* 0 for null */
}

static struct moments moments_of(const json_t *json)
{
    struct moments m = {.n = field(json, "count"),
                        .sum = field(json, "accumulate"),
                        .min = field(json, "minimum"),
                        .max = field(json, "maximum"),
                        .mean = field(json, "mean")};
    double deviation = field(json, "stddev");

    if (m.n < 2 || deviation <= 0)
        return m;
    m.m2 = deviation * deviation * (m.n - 1);
    m.m3 = field(json, "skewness") * pow(m.m2, 1.5) / sqrt(m.n);
    m.m4 = (field(json, "kurtosis") + 3) * m.m2 * m.m2 / m.n;
    return m;
}

static void merge(struct moments *a, const struct moments *b)
{
    double n = a->n + b->n, d = b->mean - a->mean, dn = d / n, both = a->n * b->n;

    if (b->n == 0)
        return;
    if (a->n == 0) {
        *a = *b;
        return;
    }
    a->m4 += b->m4 + d * dn * dn * dn * both * (a->n * a->n - both + b->n * b->n) +
             6 * dn * dn * (a->n * a->n * b->m2 + b->n * b->n * a->m2) +
             4 * dn * (a->n * b->m3 - b->n * a->m3);
    a->m3 +=
        b->m3 + d * dn * dn * both * (a->n - b->n) + 3 * dn * (a->n * b->m2 - b->n * a->m2);
    a->m2 += b->m2 + d * dn * both;
    a->mean += dn * b->n;
    a->sum += b->sum;
    a->min = fmin(a->min, b->min);
    a->max = fmax(a->max, b->max);
    a->n = n;
}

static json_t *merged_json(const struct moments *m)
{
    bool has_width = m->n > 1 && m->m2 > 0;

    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "count", (json_int_t)m->n,
                     "accumulate", m->sum, "minimum", m->min, "maximum", m->max, "mean",
                     m->mean, "stddev", has_width ? sqrt(m->m2 / (m->n - 1)) : 0.0, "skewness",
                     has_width ? sqrt(m->n) * m->m3 / pow(m->m2, 1.5) : 0.0, "kurtosis",
                     has_width ? m->n * m->m4 / (m->m2 * m->m2) - 3 : 0.0);
}

static void add_stats(sqlite3_context *context, int n, sqlite3_value **value)
{
    struct merged *m = sqlite3_aggregate_context(context, sizeof *m);
    const char *text = (const char *)sqlite3_value_text(value[0]);
    struct moments one;
    json_t *json;

    (void)n;
    if (m == NULL || text == NULL || sqlite3_value_bytes(value[0]) > MOST_BYTES)
        return;
    if (m->n_rows++ == 0)
        m->only = mem_copy_string(text);
    json = json_loads(text, 0, NULL);
    one = moments_of(json);
    if (one.n > 0 && one.n <= MOST_VALUES - m->moments.n && isfinite(one.m3) &&
        isfinite(one.m4))
        merge(&m->moments, &one);
    json_decref(json);
}

static void give_stats(sqlite3_context *context)
{
    struct merged *m = sqlite3_aggregate_context(context, 0);
    char *text = m && m->n_rows == 1 ? m->only : NULL;
    json_t *json;

    if (m && m->n_rows > 1) {
        json = merged_json(&m->moments);
        text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
        json_decref(json);
        free(m->only);
    }
    if (text)
        sqlite3_result_text(context, text, -1, free);
    else
        sqlite3_result_null(context);
}

/* Of a store that an older snag wrote, each run without an id is a job. */
#define JOB "coalesce(nullif(run_id, ''), run)"

static const char views[] =
    "CREATE TEMP VIEW jobs AS SELECT min(run) AS job, run_id, pid, count(*) AS runs, "
    "nullif(count(DISTINCT rid), 0) AS ranks, min(began) AS began, "
    "CASE WHEN count(ended) = count(*) THEN max(ended) END AS ended, "
    "coalesce(sum(n), 0) AS anomalies FROM runs LEFT JOIN (SELECT run, pid, count(*) AS n FROM "
    "anomalies WHERE NOT is_pruned GROUP BY run, pid) USING (run, pid) GROUP BY " JOB ", pid;"
    "CREATE TEMP VIEW func_stats AS SELECT min(s.run) AS run, u.run_id AS run_id, s.pid AS "
    "pid, min(s.fid) AS fid, s.func AS func, sum(s.calls) AS calls, sum(s.anomalies) AS "
    "anomalies, prov_merge(s.exclusive) AS exclusive, prov_merge(s.inclusive) AS inclusive, "
    "prov_merge(s.severity) AS severity, prov_merge(s.score) AS score "
    "FROM func_stats_of_runs s LEFT JOIN runs u ON u.run = s.run "
    "GROUP BY coalesce(nullif(u.run_id, ''), s.run), s.pid, s.func;"
    "CREATE TEMP VIEW counter_stats AS SELECT min(s.run) AS run, u.run_id AS run_id, s.pid AS "
    "pid, s.counter AS counter, prov_merge(s.stats) AS stats "
    "FROM counter_stats_of_runs s LEFT JOIN runs u ON u.run = s.run "
    "GROUP BY coalesce(nullif(u.run_id, ''), s.run), s.pid, s.counter;";

int prov_jobs_add(struct database *reader, const char *url)
{
    return sqlite3_create_function(reader->sql, "prov_merge", 1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                   NULL, add_stats, give_stats) == SQLITE_OK &&
                   sqlite3_exec(reader->sql, views, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : prov_reader_error(reader, url);
}
