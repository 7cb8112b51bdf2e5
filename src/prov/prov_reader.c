/*
 * A view is one SELECT per shard, joined by UNION ALL; SQLite pushes conditions into each, so
 * their indexes are used. `record` is made by a function, only for rows whose column is asked.
 * Statistics of a job are merged by their central moments, which mean, deviation, skewness and
 * kurtosis say.
 */
#include "prov/prov_reader.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "prov/prov_stats.h"
#include "prov/prov_kind.h"
#include "prov/prov_record.h"
#include "prov/prov_shard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------ views */

/* What stands behind a view in one shard. %s: its schema with a dot; %u: its number. */
struct shard_view {
    const char *name;
    const char *select;
};

#define RECORD_COLUMNS                                                                         \
    "r.run AS run, r.program AS pid, r.rank AS rid, r.thread AS tid, "                         \
    "r.rank || ':' || r.step || ':' || r.idx AS event_id, r.fid AS fid, f.name AS func, "      \
    "r.enter_ns / 1000.0 AS entry, r.leave_ns / 1000.0 AS exit, "                              \
    "r.inclusive_ns / 1000.0 AS runtime_total, "                                               \
    "r.exclusive_ns / 1000.0 AS runtime_exclusive, r.step AS io_step, "                        \
    "r.score AS outlier_score, r.severity_ns / 1000.0 AS outlier_severity, r.p AS p, "         \
    "r.model_version AS model_version, r.is_gpu AS is_gpu_event, "                             \
    "coalesce(r.is_pruned, 0) AS is_pruned, r.final_score AS final_score, "                    \
    "r.final_p AS final_p, "                                                                   \
    "r.execution AS execution, r.calls AS calls, r.messages AS messages, "                     \
    "c.cost_ns AS cost_ns, c.is_bound AS cost_is_bound, "                                      \
    "prov_record(r.data, r.run, r.is_pruned, r.final_score, r.final_p, c.cost_ns, "            \
    "c.is_bound, u.run_id, r.stored_ns) AS record, "                                           \
    "u.run_id AS run_id, r.stored_ns AS stored_ns, "                                           \
    "r.id AS __id, %u AS shard FROM %srecord r JOIN %sfunction f ON f.id = r.function "        \
    "LEFT JOIN s0.run u ON u.id = r.run "                                                      \
    "LEFT JOIN %scost_row c ON c.run = r.run AND c.program = r.program AND "                   \
    "c.rank = r.rank AND c.step = r.step AND c.idx = r.idx AND "                               \
    "c.is_execution = (r.execution IS NOT NULL) AND NOT r.is_normal "

static const struct shard_view views[] = {
    {"anomalies", "SELECT " RECORD_COLUMNS "WHERE NOT r.is_normal"},
    {"normalexecs", "SELECT " RECORD_COLUMNS "WHERE r.is_normal"},
    {"runs", "SELECT id AS run, program AS pid, rank AS rid, began_ns / 1000.0 AS began, "
             "run_id, ended_ns / 1000.0 AS ended, backed_up_ns / 1000.0 AS backed_up, "
             "dropped_ns / 1000.0 AS dropped, %u AS shard FROM %srun"},
    {"metadata", "SELECT run, program AS pid, rank AS rid, thread AS tid, descr, value, "
                 "stored_ns, %u AS shard FROM %smetadata_row"},
    {"func_stats_of_runs",
     "SELECT run, program AS pid, fid, name AS func, calls, anomalies, exclusive, "
     "inclusive, severity, score, %u AS shard FROM %sfunc_stats_row"},
    {"counter_stats_of_runs",
     "SELECT run, program AS pid, counter, stats, %u AS shard FROM %scounter_stats_row"},
    {"ad_model",
     "SELECT run, version, program AS pid, fid, name AS func, algorithm, stats, data, "
     "%u AS shard FROM %sad_model_row"},
};

#define N_VIEWS (sizeof views / sizeof *views)

/* Tables that are copied from shards which cannot stay attached; ids get room for all shards.
 */
static const char *const copied[] = {"run",
                                     "function",
                                     "record",
                                     "cost_row",
                                     "metadata_row",
                                     "func_stats_row",
                                     "counter_stats_row",
                                     "ad_model_row"};

/* A record as JSON, to be freed; NULL for a damaged one. */
static char *record_text(const void *data, size_t bytes, const struct prov_final *final)
{
    struct arena arena = {0};
    struct prov_record record;
    char *text = NULL;

    if (data && prov_record_read(data, bytes, &arena, &record) == 0) {
        json_t *json = prov_record_to_json(&record, final);

        text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15));
        json_decref(json);
    }
    arena_release(&arena);
    return text;
}

/* prov_record(data, run, is_pruned, final_score, final_p, cost_ns, cost_is_bound, run_id,
 * stored_ns): JSON, or NULL for a damaged record. */
static void record_function(sqlite3_context *context, int n, sqlite3_value **value)
{
    struct prov_final final = {.run = sqlite3_value_int64(value[1]),
                               .run_id = (const char *)sqlite3_value_text(value[7]),
                               .stored_ns = (uint64_t)sqlite3_value_int64(value[8]),
                               .is_judged = sqlite3_value_type(value[2]) != SQLITE_NULL,
                               .is_pruned = sqlite3_value_int(value[2]) != 0,
                               .score = sqlite3_value_double(value[3]),
                               .p = sqlite3_value_double(value[4]),
                               .has_cost = sqlite3_value_type(value[5]) != SQLITE_NULL,
                               .cost_ns = sqlite3_value_int64(value[5]),
                               .cost_is_bound = sqlite3_value_int(value[6]) != 0};
    const void *data = sqlite3_value_blob(value[0]);
    char *text = record_text(data, (size_t)sqlite3_value_bytes(value[0]), &final);
    size_t length = text ? strlen(text) : 0;

    (void)n;
    if (database_spend(sqlite3_user_data(context), length)) {
        sqlite3_result_text64(context, text, length, free, SQLITE_UTF8);
    } else {
        free(text);
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    }
}

static int run_sql(struct database *d, char *sql, const char *path)
{
    int status = sql ? sqlite3_exec(d->sql, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    return status == SQLITE_OK ? 0 : prov_reader_error(d, path);
}

/* A shard as schema `as`; n: how many there are, or 0 to be told. */
static int attach(struct database *d, const struct prov_dir *place, uint32_t shard,
                  const char *as, uint32_t *n)
{
    struct prov_file file;
    int rc;

    prov_dir_file(place, d->dir, shard, &file);
    rc = database_attach(d, file.name, file.path, as);
    if (rc == ERR_NOT_FOUND)
        return err_set(ERR_FORMAT, "damaged store: '%s' is missing", file.path);
    return rc == 0 ? prov_shard_check(d, as, shard, n, file.path) : rc;
}

/* Copies what a shard has to tables of the temporary database: record of shard 12 to record_12.
 */
static int copy_shard(struct database *d, const struct prov_dir *place, uint32_t shard,
                      uint32_t *n)
{
    int rc = attach(d, place, shard, "extra", n);

    for (size_t i = 0; i < sizeof copied / sizeof *copied && rc == 0; i++)
        rc = run_sql(d,
                     sqlite3_mprintf("CREATE TEMP TABLE s%u_%s AS SELECT * FROM extra.%s",
                                     shard, copied[i], copied[i]),
                     place->dir);
    if (rc == 0)
        rc = run_sql(d,
                     sqlite3_mprintf("CREATE INDEX temp.s%u_function_id ON s%u_function (id); "
                                     "DETACH extra",
                                     shard, shard),
                     place->dir);
    return rc;
}

/* "s3." for what is attached, "s12_" for what was copied. */
static void prefix_of(uint32_t shard, uint32_t n_attached, char out[16])
{
    snprintf(out, 16, "s%u%c", shard, shard < n_attached ? '.' : '_');
}

static int make_view(struct database *d, const struct shard_view *view, uint32_t n,
                     uint32_t n_attached)
{
    char *sql = NULL, prefix[16];
    size_t size;
    FILE *out = text_open(&sql, &size);
    int rc;

    fprintf(out, "CREATE TEMP VIEW %s AS ", view->name);
    for (uint32_t i = 0; i < n; i++) {
        char *arm;

        prefix_of(i, n_attached, prefix);
        arm = sqlite3_mprintf(view->select, i, prefix, prefix, prefix);
        fprintf(out, "%s%s", i ? " UNION ALL " : "", arm ? arm : "");
        sqlite3_free(arm);
    }
    fclose(out);
    rc = run_sql(d, sqlite3_mprintf("%s", sql), view->name);
    free(sql);
    return rc;
}

static int open_shards(struct database *d, const struct prov_dir *place)
{
    uint32_t most = (uint32_t)sqlite3_limit(d->sql, SQLITE_LIMIT_ATTACHED, -1);
    uint32_t n = 0, n_attached = most - 1;
    int rc = attach(d, place, 0, "s0", &n);

    n_attached = n <= most ? n : n_attached;
    for (uint32_t i = 1; i < n && rc == 0; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%u", i);
        rc = i < n_attached ? attach(d, place, i, name, &n) : copy_shard(d, place, i, &n);
    }
    for (size_t v = 0; v < N_VIEWS && rc == 0; v++)
        rc = make_view(d, &views[v], n, n_attached);
    return rc == 0 ? prov_jobs_add(d, place->dir) : rc;
}

int prov_reader_add_function(struct database *reader, const char *url)
{
    return sqlite3_create_function(reader->sql, "prov_record", 9,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                   reader, record_function, NULL, NULL) == SQLITE_OK
               ? 0
               : prov_reader_error(reader, url);
}

int prov_shards_read(const char *url, int64_t run, struct database *reader)
{
    struct prov_dir place;
    int dir = -1, rc = prov_dir_parse(url, &place);

    (void)run;
    *reader = (struct database){.dir = -1};
    if (rc == 0 && !prov_dir_is_store(url))
        rc = prov_dir_missing(place.dir);
    if (rc == 0)
        rc = prov_dir_open(&place, &dir);
    if (rc < 0)
        return rc;
    rc = database_memory(reader, dir);
    if (rc == 0)
        rc = prov_reader_add_function(reader, place.dir);
    if (rc == 0)
        rc = open_shards(reader, &place);
    if (rc == 0)
        database_read_only(reader);
    else
        database_close(reader);
    close(dir);
    return rc;
}

int prov_reader_open_run(const char *url, int64_t run, struct database *reader)
{
    *reader = (struct database){.dir = -1};
    return prov_kind_of(url)->read(url, run, reader);
}

int prov_reader_open(const char *url, struct database *reader)
{
    return prov_reader_open_run(url, 0, reader);
}

int prov_reader_error(struct database *reader, const char *url)
{
    return database_error(reader->sql, "cannot read", url);
}

/* ------------------------------------------------------------------------------------- jobs */

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
    one = prov_stats_moments(&stats);
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
        struct prov_stats stats = prov_stats_of(&m->moments);

        text = prov_stats_text(&stats);
        free(m->only);
    }
    if (text)
        sqlite3_result_text(context, text, -1, free);
    else
        sqlite3_result_null(context);
}

/* Of a store that an older snag wrote, each run without an id is a job. Of one that was dropped
 * nobody knows how many anomalies it had. An execution and the call of its root, which may be
 * anomalies both, are one event. */
#define JOB "coalesce(nullif(run_id, ''), run)"

static const char job_views[] =
    "CREATE TEMP VIEW jobs AS SELECT min(run) AS job, run_id, pid, count(*) AS runs, "
    "nullif(count(DISTINCT rid), 0) AS ranks, min(began) AS began, "
    "CASE WHEN count(ended) = count(*) THEN max(ended) END AS ended, "
    "CASE WHEN count(dropped) = 0 THEN coalesce(sum(n), 0) END AS anomalies "
    "FROM runs LEFT JOIN (SELECT run, pid, count(DISTINCT event_id) AS n FROM anomalies "
    "WHERE NOT is_pruned "
    "GROUP BY run, pid) USING (run, pid) GROUP BY " JOB ", pid;"
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
                   sqlite3_exec(reader->sql, job_views, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : prov_reader_error(reader, url);
}
