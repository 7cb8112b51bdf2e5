/* Statistics are merged by their central moments, which mean, deviation, skewness and kurtosis
 * say. */
#include "prov/prov_jobs.h"

#include "base/mem.h"
#include "prov/moments.h"
#include "prov/prov_json.h"
#include "prov/prov_reader.h"

#include <math.h>
#include <stdlib.h>

#define MAX_BYTES 4096 /* of an object of statistics: ours are of 300 */

/* What is gathered of the rows of a group that say something. */
struct merged {
    uint64_t n_rows;
    char *only; /* of one row alone: as it is, to the last digit */
    struct moments moments;
};

static void add_stats(sqlite3_context *context, int n, sqlite3_value **value)
{
    struct merged *m = sqlite3_aggregate_context(context, sizeof *m);
    const char *text = (const char *)sqlite3_value_text(value[0]);
    struct prov_stats stats;
    struct moments one;
    json_t *json;

    (void)n;
    if (m == NULL || text == NULL || sqlite3_value_bytes(value[0]) > MAX_BYTES)
        return;
    if (m->n_rows++ == 0)
        m->only = mem_copy_string(text);
    json = json_loads(text, 0, NULL);
    stats = prov_stats_read(json);
    one = moments_of(&stats);
    if ((double)one.n <= PROV_MAX_STATS - (double)m->moments.n && isfinite(one.m3) &&
        isfinite(one.m4))
        moments_merge(&m->moments, &one);
    json_decref(json);
}

static void give_stats(sqlite3_context *context)
{
    struct merged *m = sqlite3_aggregate_context(context, 0);
    char *text = m && m->n_rows == 1 ? m->only : NULL;

    if (m && m->n_rows > 1) {
        struct prov_stats stats = moments_stats(&m->moments);

        text = prov_stats_text(&stats);
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
