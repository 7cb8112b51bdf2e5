#include "prov/prov_sql.h"

#include "base/err.h"
#include "prov/prov_dir.h"
#include "prov/prov_reader.h"

#include <stdio.h>
#include <string.h>

const char *prov_sql_collection(const char *name)
{
    static const char *const names[] = {"anomalies", "normalexecs"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    return NULL;
}

/* ------------------------------------------------------------------------------- commands */

/* Of one rank, or of any. */
#define OF_RANK "%u IN (%u, rid)"

char *prov_sql_all(const char *collection, uint32_t rank)
{
    return sqlite3_mprintf(
        "SELECT pid, rid, tid, event_id, fid, func, entry, exit, runtime_total, "
        "runtime_exclusive, io_step, outlier_score, outlier_severity, p, model_version, "
        "is_gpu_event, is_pruned, final_score, final_p, cost_ns, cost_is_bound, run, record "
        "FROM %s WHERE " OF_RANK " ORDER BY shard, __id",
        collection, rank, PROV_ANY_RANK);
}

/* What is known exactly comes before bounds, and what is not known last. */
static const char *const orders[] = {
    [PROV_BY_SEVERITY] = "outlier_severity DESC, outlier_score DESC",
    [PROV_BY_SCORE] = "outlier_score DESC, outlier_severity DESC",
    [PROV_BY_COST] = "cost_ns IS NULL, cost_is_bound, cost_ns DESC, outlier_severity DESC",
};

char *prov_sql_top(const char *collection, uint32_t rank, enum prov_order by, long long most)
{
    return sqlite3_mprintf(
        "SELECT event_id, tid, func, entry, runtime_exclusive, outlier_severity, "
        "outlier_score, p, cost_ns, cost_is_bound, run FROM %s WHERE NOT is_pruned AND " OF_RANK
        " ORDER BY %s, event_id, run LIMIT %lld",
        collection, rank, PROV_ANY_RANK, orders[by], most);
}

/*
 * Each with the call that its chain of causes ends in, or itself where none is known. An
 * execution of a function of interest whose own calls, its root among them, are strange is one
 * with them: it belongs where the worst of them does, and has lost and cost what is left of its
 * own.
 */
#define WITH_ORIGIN                                                                            \
    "WITH strange AS (SELECT *, json_extract(record, '$.cause[#-1]') AS last FROM %s "         \
    "WHERE NOT is_pruned), known AS (SELECT *, "                                               \
    "coalesce(json_extract(last, '$.rank'), rid) AS origin_rank, "                             \
    "coalesce(json_extract(last, '$.thread'), tid) AS origin_thread, "                         \
    "coalesce(json_extract(last, '$.function'), func) AS origin, "                             \
    "coalesce(json_extract(last, '$.begin_ns') / 1000.0, entry) AS began FROM strange), "      \
    "inside AS (SELECT run, json_extract(caller.value, '$.event_id') AS event_id, "            \
    "total(outlier_severity) AS lost, total(cost_ns) AS cost_ns, "                             \
    "max(outlier_severity), origin_rank, origin_thread, origin, began "                        \
    "FROM known, json_each(known.record, '$.call_stack') AS caller "                           \
    "WHERE execution IS NULL GROUP BY 1, 2), "                                                 \
    "one AS (SELECT a.run, a.run_id, pid, rid, a.event_id, outlier_score, outlier_severity, "  \
    "b.run IS NULL AS is_apart, "                                                              \
    "max(outlier_severity - coalesce(b.lost, 0), 0) AS lost, "                                 \
    "max(a.cost_ns - cast(coalesce(b.cost_ns, 0) AS INTEGER), 0) AS cost_ns, "                 \
    "coalesce(b.origin_rank, a.origin_rank) AS origin_rank, "                                  \
    "coalesce(b.origin_thread, a.origin_thread) AS origin_thread, "                            \
    "coalesce(b.origin, a.origin) AS origin, coalesce(b.began, a.began) AS began "             \
    "FROM known AS a LEFT JOIN inside AS b "                                                   \
    "ON a.execution IS NOT NULL AND a.run = b.run AND a.event_id = b.event_id) "

static const char *const incident_orders[] = {
    [PROV_BY_SEVERITY] = "lost DESC",
    [PROV_BY_SCORE] = "outlier_score DESC, lost DESC",
    [PROV_BY_COST] = "cost_ns IS NULL, cost_ns DESC, lost DESC",
};

char *prov_sql_incidents(const char *collection, uint32_t rank, enum prov_order by,
                         long long most)
{
    return sqlite3_mprintf(
        WITH_ORIGIN
        "SELECT sum(lost) AS lost, sum(is_apart) AS calls, count(DISTINCT rid) AS ranks, "
        "origin_rank AS rank, origin_thread AS thread, origin AS function, min(began) AS "
        "began, "
        "max(outlier_score) AS outlier_score, max(outlier_severity) AS most_lost, "
        "sum(cost_ns) AS cost_ns, event_id, run "
        "FROM one GROUP BY coalesce(nullif(run_id, ''), run), pid, origin_rank, origin_thread, "
        "cast(round(1000 * began) AS "
        "INTEGER) HAVING total(" OF_RANK ") > 0 ORDER BY %s, event_id, run LIMIT %lld",
        collection, rank, PROV_ANY_RANK, incident_orders[by], most);
}

char *prov_sql_probe(const char *collection, const char *condition)
{
    return sqlite3_mprintf("SELECT CASE WHEN %s\n THEN 1 END FROM %s", condition, collection);
}

char *prov_sql_filter(const char *collection, uint32_t rank, const char *condition,
                      long long most)
{
    return sqlite3_mprintf("SELECT record FROM %s WHERE " OF_RANK " AND (%s\n) LIMIT %lld",
                           collection, rank, PROV_ANY_RANK, condition, most);
}

/* -------------------------------------------------------------------------------- compare */

static const char runs_there[] = "SELECT count(*) FROM runs WHERE dropped IS NULL";

/* An execution and the call of its root, which may be anomalies both, are one event. */
static const char anomalies_of_functions[] =
    "SELECT func, count(*), sum(severity), NULL FROM ("
    "SELECT func, max(outlier_severity) AS severity FROM %s "
    "WHERE NOT is_pruned AND " OF_RANK " GROUP BY run, event_id) GROUP BY func";

/* Of the runs whose anomalies are counted: of one rank, if that is known. */
static const char calls_of_functions[] =
    "SELECT func, 0, 0, sum(calls) FROM func_stats_of_runs JOIN runs USING (run) "
    "WHERE " OF_RANK " GROUP BY func";

static const char side_by_side[] =
    "SELECT func, anomalies_1, anomalies_2, severity_1, severity_2, "
    "severity_2 - severity_1 AS difference, "
    "1.0 * anomalies_1 / calls_1 AS rate_1, 1.0 * anomalies_2 / calls_2 AS rate_2, "
    "(SELECT n FROM runs WHERE side = 1) AS runs_1, "
    "(SELECT n FROM runs WHERE side = 2) AS runs_2 FROM ("
    "SELECT func, coalesce(sum(n) FILTER (WHERE side = 1), 0) AS anomalies_1, "
    "coalesce(sum(n) FILTER (WHERE side = 2), 0) AS anomalies_2, "
    "total(severity) FILTER (WHERE side = 1) AS severity_1, "
    "total(severity) FILTER (WHERE side = 2) AS severity_2, "
    "sum(calls) FILTER (WHERE side = 1) AS calls_1, "
    "sum(calls) FILTER (WHERE side = 2) AS calls_2 FROM part GROUP BY func) "
    "WHERE anomalies_1 + anomalies_2 > 0 ORDER BY max(severity_1, severity_2) DESC, func LIMIT "
    "%lld";

/*
 * Copies the rows of a question of one store to a table of another database. The question may
 * be NULL for want of memory, and is freed.
 */
static int copy_rows(struct database *from, char *question, struct database *to, int side,
                     const char *insertion)
{
    sqlite3_stmt *query = NULL, *insert = NULL;
    int status =
        question ? sqlite3_prepare_v2(from->sql, question, -1, &query, NULL) : SQLITE_NOMEM;
    int rc = status == SQLITE_OK ? 0 : prov_reader_error(from, "the store");

    if (rc == 0 && sqlite3_prepare_v2(to->sql, insertion, -1, &insert, NULL) != SQLITE_OK)
        rc = prov_reader_error(to, "what is compared");
    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW) {
        sqlite3_bind_int(insert, 1, side);
        for (int c = 0; c < sqlite3_column_count(query); c++)
            sqlite3_bind_value(insert, c + 2, sqlite3_column_value(query, c));
        if (sqlite3_step(insert) != SQLITE_DONE)
            rc = prov_reader_error(to, "what is compared");
        sqlite3_reset(insert);
    }
    if (rc == 0 && status != SQLITE_DONE)
        rc = prov_reader_error(from, "the store");
    sqlite3_finalize(query);
    sqlite3_finalize(insert);
    sqlite3_free(question);
    return rc;
}

static int collect(struct database *from, struct database *both, int side,
                   const char *collection, uint32_t rank)
{
    static const char part[] = "INSERT INTO part (side, func, n, severity, calls) "
                               "VALUES (?, ?, ?, ?, ?)";
    int rc = copy_rows(from, sqlite3_mprintf("%s", runs_there), both, side,
                       "INSERT INTO runs (side, n) VALUES (?, ?)");

    if (rc == 0)
        rc = copy_rows(from,
                       sqlite3_mprintf(anomalies_of_functions, collection, rank, PROV_ANY_RANK),
                       both, side, part);
    if (rc == 0)
        rc = copy_rows(from, sqlite3_mprintf(calls_of_functions, rank, PROV_ANY_RANK), both,
                       side, part);
    return rc;
}

int prov_sql_compare(struct database *one, struct database *other, struct database *both,
                     const char *collection, uint32_t rank, long long most, char **sql)
{
    int rc = 0;

    *sql = NULL;
    if (sqlite3_exec(both->sql,
                     "CREATE TABLE part (side, func, n, severity, calls); "
                     "CREATE TABLE runs (side, n)",
                     NULL, NULL, NULL) != SQLITE_OK)
        rc = prov_reader_error(both, "what is compared");
    if (rc == 0)
        rc = collect(one, both, 1, collection, rank);
    if (rc == 0)
        rc = collect(other, both, 2, collection, rank);
    if (rc == 0)
        *sql = sqlite3_mprintf(side_by_side, most);
    return rc;
}

/* -------------------------------------------------------------------------------- the page */

char *prov_sql_count(const char *collection, const char *where)
{
    return sqlite3_mprintf("SELECT count(*) FROM %s WHERE %s", collection, where);
}

char *prov_sql_page(const char *collection, const char *where, const char *order,
                    long long most, long long from)
{
    return sqlite3_mprintf(
        "SELECT __id * %u + shard, event_id, func, pid, rid, tid, io_step, entry, exit, "
        "runtime_total, runtime_exclusive, outlier_severity, outlier_score, p, is_pruned, "
        "execution, calls, messages, cost_ns, cost_is_bound, run, run_id, stored_ns FROM %s "
        "WHERE %s "
        "ORDER BY %s, __id, shard LIMIT %lld "
        "OFFSET %lld",
        PROV_MAX_SHARDS, collection, where, order, most, from);
}

char *prov_sql_record(const char *collection)
{
    return sqlite3_mprintf("SELECT record FROM %s WHERE __id = ? AND shard = ?", collection);
}

void prov_sql_id_split(int64_t id, int64_t *in_shard, int64_t *shard)
{
    *in_shard = id / PROV_MAX_SHARDS;
    *shard = id % PROV_MAX_SHARDS;
}

const char prov_sql_past[] =
    "SELECT pid, rid, tid, func, entry, exit, runtime_total, runtime_exclusive, "
    "outlier_severity, outlier_score, is_anomaly, execution, calls, messages, is_taken_back, "
    "run, shard, __id "
    "FROM (SELECT *, NOT is_pruned AS is_anomaly, is_pruned AS is_taken_back FROM anomalies "
    "UNION ALL SELECT *, 0, 0 FROM normalexecs) "
    "ORDER BY entry, __id, shard";

const char prov_sql_past_calls[] = "SELECT coalesce(sum(calls), 0) FROM func_stats_of_runs";
